#!/usr/bin/env bash
# setuptools-scm: the version of an archive of git's of a repository without tags.
#
# Guess before the run: `fallback_version`, which is "used if no other method for detecting the version is successful".
# Seen with setuptools-scm 10.3.4, fallback_version = "3.2.1", a repository of one commit and no tag:
#   a clone:                                     3.2.2.dev1, counted from the fallback
#   `git archive` without .git_archival.txt:     3.2.1, the fallback
#   `git archive` with .git_archival.txt, made as the manual says: 0.0; the fallback counts for nothing
# So adding the file that is to make archives better makes their version smaller than that of the clone, and a
# requirement such as >=3.2 fails in the archive alone. What helps: leave the file out until there is a tag.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
# shellcheck disable=SC2086
"$folder/venv/bin/pip" install --quiet ${PIP_ARGS:-} setuptools-scm==10.3.4
mkdir "$folder/repository"
cd "$folder/repository"
cat > pyproject.toml <<'TOML'
[project]
name = "example"
dynamic = ["version"]
[tool.setuptools_scm]
fallback_version = "3.2.1"
local_scheme = "no-local-version"
TOML
commit() { git add --all && git -c user.name=a -c user.email=a@example.org commit --quiet -m "$1"; }
version() { (cd "$1" && "$folder/venv/bin/python" -m setuptools_scm 2>/dev/null); }
git init --quiet
commit one
mkdir "$folder/plain" "$folder/with"
git archive HEAD | tar x -C "$folder/plain"
clone=$(version .) plain=$(version "$folder/plain")
# shellcheck disable=SC2016
printf 'node: $Format:%%H$\nnode-date: $Format:%%cI$\ndescribe-name: $Format:%%(describe:tags=true)$\n' > .git_archival.txt
echo '.git_archival.txt  export-subst' > .gitattributes
commit two
git archive HEAD | tar x -C "$folder/with"
with=$(version "$folder/with")
echo "setuptools-scm 10.3.4: clone $clone, archive $plain, archive with .git_archival.txt $with"
[[ $clone == 3.2.2.dev1 && $plain == 3.2.1 && $with == 0.0 ]] || { echo "the behaviour has changed" >&2; exit 1; }
