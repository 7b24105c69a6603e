# the notes of the stores that count here, by the names of their files
function __mdmemory_notes
    set -l words (commandline -opc)
    set -l named
    if set -l place (contains -i -- --store $words)
        set named --store $words[(math $place + 1)]
    end
    for line in (command mdmemory $named completion stores 2>/dev/null)
        set -l parts (string split -m 1 \t -- $line)
        for file in $parts[1]/*.md
            set -l name (string replace -r '.*/(.*)\.md$' '$1' -- $file)
            string match -qr '^(_.*|README|MEMORY)$' -- $name; or echo $parts[2]$name
        end
    end
end
