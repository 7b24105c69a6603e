# the notes of the stores that count here, by the names of their files
_mdmemory_notes() {
  local line folder prefix file typed=$PREFIX found=() named=()
  (( ${words[(I)--store]} )) && named=(--store $words[${words[(I)--store]}+1])
  for line in ${(f)"$(command mdmemory $named completion stores 2>/dev/null)"}; do
    folder=${line%%$'\t'*} prefix=${line#*$'\t'}
    for file in $folder/*.md(N:t:r); do
      case $file in (_*|README|MEMORY) continue ;; esac
      if [[ $prefix$file == $typed* ]]; then
        found+=($prefix$file)
      elif [[ -n $typed && $prefix${file#*-} == $typed* ]]; then
        found+=($prefix${file#*-})
      fi
    done
  done
  compadd -a found
}
