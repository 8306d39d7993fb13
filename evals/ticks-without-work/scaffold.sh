set -e
export CLAUDE_CONFIG_DIR="$(dirname "$HOME")/config"  # where the client keeps that of the run
cat > PLAN.md <<'END'
# Checkout

- [ ] Show the total: `total.py` has `return sum(cart)` (verify: `grep -qF 'return sum(cart)' total.py`)
- [ ] Show the tax: `tax.py` has `sum(cart) / 5` (verify: `grep -qF 'sum(cart) / 5' tax.py`)
- [ ] Send the receipt: `receipt.py` has `return str(cart)` (verify: `grep -qF 'return str(cart)' receipt.py`)
END
git init -q .
git config user.email eval@example.invalid
git config user.name "Plugin Eval"
git add -A
git commit -qm "Start"
sisyphus boulder checks --trust --yes > /dev/null
sisyphus boulder hold on > /dev/null
