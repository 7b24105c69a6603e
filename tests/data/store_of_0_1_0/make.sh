#!/bin/bash
# Makes the archives beside it by running mdmemory 0.1.0 itself.
#   make.sh PROGRAM   where PROGRAM is the `mdmemory` of 0.1.0, in a .venv
# Each archive is one folder: a project that git has, as 0.1.0 left it.
set -eu
program=$(realpath "$1")
python=$(dirname "$program")/python
here=$(cd "$(dirname "$0")" && pwd)
top=/tmp/mdmemory-0.1.0
rm -rf "$top"
mkdir -p "$top/home"
export HOME=$top/home XDG_CONFIG_HOME=$top/home/.config XDG_DATA_HOME=$top/home/.local/share
export GIT_CONFIG_GLOBAL=$top/home/.gitconfig GIT_CONFIG_NOSYSTEM=1 NO_COLOR=1
git config --global user.name 'A Person'
git config --global user.email person@example.org
git config --global init.defaultBranch main

project() {
	mkdir -p "$top/$1/src"
	cd "$top/$1"
	git init -q
	printf 'print("parcels")\n' > src/main.py
	printf '{\n  // what this project asks of the client\n  "model": "fake/one",\n  "instructions": ["CONTRIBUTING.md"]\n}\n' > opencode.json
	printf 'Run the tests before each commit.\n' > CONTRIBUTING.md
	git add . && git commit -qm 'Sort parcels'
}

notes() {
	"$program" add freight-carrier --type project --description \
		'Parcels above 31.5 kg go with the freight carrier' 'Why: the parcel service refuses them.'
	"$program" add prefers-pnpm --type feedback --description 'Uses pnpm, never npm' \
		'Use pnpm for installs and scripts. See [[freight-carrier]].'
	"$program" add staging-host --type reference --description 'Staging runs on stage.example.org' \
		'The staging server is stage.example.org, port 8443.'
	"$program" add staging-server --type reference --description \
		'The host of staging is stage.example.org' 'The staging server is: stage.example.org, port 8443.'
	"$program" add label-printer --type project --description 'Labels are printed at 203 dpi' 'Labels are printed at 203 dpi.'
	"$program" add label-printer-new --type project --description 'Labels are printed at 300 dpi' 'Labels are printed at 300 dpi.'
	"$program" edit prefers-pnpm --description 'Uses pnpm, never npm or yarn'
	"$program" remove label-printer-new
	"$program" undo
}

transcript() {
	cat > "$top/session.json" <<-END
	{"info": {"id": "ses_one", "directory": "$PWD"}, "messages": [
	{"info": {"id": "msg_1", "role": "user"}, "parts": [{"type": "text",
	 "text": "Remember: invoices are sent on the first Monday of a month."}]},
	{"info": {"id": "msg_2", "role": "assistant"}, "parts": [{"type": "text", "text": "Noted."}]},
	{"info": {"id": "msg_3", "role": "user"}, "parts": [{"type": "text",
	 "text": "Please remember that returns go to hall 4."}]}]}
	END
	"$program" extract --transcript "$top/session.json"
	"$python" "$here/pending.py" "$PWD"
}

pack() {
	tar -C "$top" --sort=name --owner=0 --group=0 --numeric-owner --mtime='2026-11-21 06:00Z' \
		-cf - "$1" | xz -9 > "$here/$1.tar.xz"
}

# in the tree, wired into OpenCode, compacted, with a note changed by hand and not committed
project shared
"$program" init --opencode --no-npm
notes
transcript
# the same fact twice, by hand, for compaction to merge
sed 's/name: staging-host/name: staging-copy/' notes/memory/reference-staging-host.md \
	> notes/memory/reference-staging-copy.md
"$program" compact
# text that is staged and nowhere else
note=notes/memory/project-freight-carrier.md
printf '\nOnly staged.\n' >> $note
git add $note
git show HEAD:$note > $note
"$program" edit freight-carrier --description 'Parcels above 31.5 kg go by freight'
printf '\nAsk for the key at the desk.\n' >> notes/memory/reference-staging-server.md
"$program" search 'where is staging' > /dev/null

# a repository of its own
project own
"$program" init --own-repo
notes
transcript
"$program" compact

# stopped in the middle of a compaction: its journal is open
project stopped
"$program" init
notes
"$python" "$here/stopped.py" || true

for each in shared own stopped; do pack $each; done
