# the notes of the stores that count here, by the names of their files; $1 is what was typed
_mdmemory_notes() {
  local folder prefix file name store= i
  for ((i = 1; i < COMP_CWORD; i++)); do
    [[ ${COMP_WORDS[i]} == --store ]] && store=${COMP_WORDS[i + 1]}
  done
  command mdmemory ${store:+--store "$store"} completion stores 2>/dev/null |
    while IFS=$'\t' read -r folder prefix; do
      for file in "$folder"/*.md; do
        name=${file##*/} name=${name%.md}
        case $name in '*' | _* | README | MEMORY) continue ;; esac
        if [[ $prefix$name == "$1"* ]]; then
          echo "$prefix$name"
        elif [[ $1 && $prefix${name#*-} == "$1"* ]]; then
          echo "$prefix${name#*-}"
        fi
      done
    done
}
