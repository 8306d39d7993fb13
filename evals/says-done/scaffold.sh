set -e
export CLAUDE_CONFIG_DIR="$(dirname "$HOME")/config"  # where the client keeps that of the run
cat > PLAN.md <<'END'
# Checkout

- [ ] Show the total: `total.py` has `return sum(cart)` (verify: `grep -qF 'return sum(cart)' total.py`)
END
git init -q .
git config user.email eval@example.invalid
git config user.name "Plugin Eval"
git add -A
git commit -qm "Start"
sisyphus boulder checks --trust --yes > /dev/null
sisyphus boulder hold on > /dev/null
