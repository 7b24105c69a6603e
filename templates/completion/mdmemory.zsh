#compdef mdmemory
# zsh completion for mdmemory, made by `mdmemory completion zsh`

@TABLES@
# the notes of the stores that count here, by the names of their files
_mdmemory_notes() {
  local line folder prefix file name found=()
  if [[ -z ${_mdmemory_stores-} || ${_mdmemory_here-} != "$PWD:$1" ]]; then
    typeset -g _mdmemory_here="$PWD:$1"
    typeset -g _mdmemory_stores=$(command mdmemory ${1:+--store} ${1:+$1} completion stores 2>/dev/null)
  fi
  for line in ${(f)_mdmemory_stores}; do
    folder=${line%%$'\t'*} prefix=${line#*$'\t'}
    for file in $folder/*.md(N:t:r); do
      case $file in (_*|README|MEMORY) continue ;; esac
      if [[ $prefix$file == $2* ]]; then
        found+=($prefix$file)
      elif [[ -n $2 && $prefix${file#*-} == $2* ]]; then
        found+=($prefix${file#*-})
      fi
    done
  done
  compadd -a found
}

_mdmemory() {
  local cur=$words[CURRENT] command= option= place=1 store= kind= options= word i
  for ((i = 2; i < CURRENT; i++)); do
    word=$words[i]
    if [[ -n $option ]]; then
      [[ $option == --store ]] && store=$word
      option=
    elif [[ $word == -* ]]; then
      _mdmemory_kind "$command:$word" && option=$word
    elif [[ -z $command ]]; then
      command=$word
    else
      ((place++))
    fi
  done
  if [[ -n $option ]]; then
    _mdmemory_kind "$command:$option"
  elif [[ $cur == -* ]]; then
    _mdmemory_options "$command"
    kind="words $options"
  elif [[ -z $command ]]; then
    _describe command _mdmemory_described
    return
  else
    _mdmemory_kind "$command:$place" || _mdmemory_kind "$command:more"
  fi
  case $kind in
    (words*) compadd -- ${=kind#words} ;;
    (notes) _mdmemory_notes "$store" "$cur" ;;
    (files) _files ;;
    (folders) _files -/ ;;
  esac
}

if [[ ${funcstack[1]-} == _mdmemory ]]; then _mdmemory "$@"; else compdef _mdmemory mdmemory; fi
