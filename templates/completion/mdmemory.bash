# bash completion for mdmemory, made by `mdmemory completion bash`

@TABLES@
# the notes of the stores that count here, by the names of their files
_mdmemory_notes() {
  local folder prefix file name
  if [[ ${_mdmemory_stores-} == '' || ${_mdmemory_here-} != "$PWD:$1" ]]; then
    _mdmemory_here="$PWD:$1"
    _mdmemory_stores=$(command mdmemory ${1:+--store "$1"} completion stores 2>/dev/null)
  fi
  while IFS=$'\t' read -r folder prefix; do
    for file in "$folder"/*.md; do
      name=${file##*/} name=${name%.md}
      case $name in '*' | _* | README | MEMORY) continue ;; esac
      if [[ $prefix$name == "$2"* ]]; then
        COMPREPLY+=("$prefix$name")
      elif [[ $2 && $prefix${name#*-} == "$2"* ]]; then
        COMPREPLY+=("$prefix${name#*-}")
      fi
    done
  done <<<"$_mdmemory_stores"
}

_mdmemory() {
  local IFS=$' \t\n' cur=${COMP_WORDS[COMP_CWORD]} command= option= place=1 store= kind= word i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    if [[ $option ]]; then
      [[ $option == --store ]] && store=$word
      option=
    elif [[ $word == -* ]]; then
      _mdmemory_kind "$command:$word" && option=$word
    elif [[ ! $command ]]; then
      command=$word
    else
      ((place++))
    fi
  done
  if [[ $option ]]; then
    _mdmemory_kind "$command:$option"
  elif [[ $cur == -* ]]; then
    _mdmemory_options "$command"
    kind="words $options"
  elif [[ ! $command ]]; then
    kind="words $_mdmemory_commands"
  else
    _mdmemory_kind "$command:$place" || _mdmemory_kind "$command:more"
  fi
  case $kind in
    words*) COMPREPLY=($(compgen -W "${kind#words}" -- "$cur")) ;;
    notes) _mdmemory_notes "$store" "$cur" ;;
    files | folders)
      # the bash of macOS has no compopt
      compopt -o filenames 2>/dev/null
      IFS=$'\n'
      COMPREPLY=($(compgen "-$([[ $kind == files ]] && echo f || echo d)" -- "$cur"))
      ;;
  esac
}

complete -F _mdmemory mdmemory
