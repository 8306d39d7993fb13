set -e
export CLAUDE_CONFIG_DIR="$(dirname "$HOME")/config"  # where the client keeps that of the run
mkdir -p .cursor/rules
cat > .cursor/rules/money.mdc <<'END'
---
description: How we write amounts
globs: "prices.py"
---

Money is a Decimal, never a float.
END
echo '"""Prices of goods."""' > prices.py
git init -q .
git config user.email eval@example.invalid
git config user.name "Plugin Eval"
git add -A
git commit -qm "Start"
