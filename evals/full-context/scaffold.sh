set -e
export CLAUDE_CONFIG_DIR="$(dirname "$HOME")/config"  # where the client keeps that of the run
cat > PLAN.md <<'END'
# Checkout

- [ ] Show the total: `total.py` has `return sum(cart)`
- [ ] Show the tax: `tax.py` has `sum(cart) / 5`
- [ ] Send the receipt: `receipt.py` has `return str(cart)`
END
git init -q .
git config user.email eval@example.invalid
git config user.name "Plugin Eval"
git add -A
git commit -qm "Start"
