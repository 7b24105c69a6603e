# fish completion for mdmemory, made by `mdmemory completion fish`

@TABLES@
# what is typed before the cursor: the store, the command, and how many words stand behind it
function __mdmemory_typed
    set -l words (commandline -opc)
    set -l command ''
    set -l option ''
    set -l place 0
    set -l store ''
    for word in $words[2..-1]
        if test -n "$option"
            test "$option" = --store; and set store $word
            set option ''
        else if string match -q -- '-*' $word
            contains -- $word $__mdmemory_valued; and set option $word
        else if test -z "$command"
            set command $word
            set place 1
        else
            set place (math $place + 1)
        end
    end
    printf '%s\n' "$command" $place "$store"
end

function __mdmemory_in
    set -l typed (__mdmemory_typed)
    test "$typed[1]" = "$argv[1]"; or return 1
    test -z "$argv[2]"; or test "$typed[2]" = "$argv[2]"; or begin
        test "$argv[3]" = more; and test "$typed[2]" -gt "$argv[2]"
    end
end

# the notes of the stores that count here, by the names of their files
function __mdmemory_notes
    set -l store (__mdmemory_typed)[3]
    set -l here "$PWD:$store"
    if test -z "$__mdmemory_stores" -o "$__mdmemory_here" != "$here"
        set -g __mdmemory_here $here
        set -l named
        test -n "$store"; and set named --store $store
        set -g __mdmemory_stores (command mdmemory $named completion stores 2>/dev/null)
    end
    for line in $__mdmemory_stores
        set -l parts (string split -m 1 \t -- $line)
        for file in $parts[1]/*.md
            set -l name (string replace -r '.*/(.*)\.md$' '$1' -- $file)
            string match -qr '^(_.*|README|MEMORY)$' -- $name; or echo $parts[2]$name
        end
    end
end

complete -c mdmemory -f
@RULES@
