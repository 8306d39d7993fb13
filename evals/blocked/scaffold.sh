set -e
export CLAUDE_CONFIG_DIR="$(dirname "$HOME")/config"  # where the client keeps that of the run
cat > PLAN.md <<'END'
# Mail

- [ ] Store the key: ask the user for the key of the mail service, and write it to key.txt
END
git init -q .
git config user.email eval@example.invalid
git config user.name "Plugin Eval"
git add -A
git commit -qm "Start"
sisyphus boulder hold on > /dev/null
