#!/bin/sh
# Installs the production packages of the named workspaces, for the Dockerfile. No install script runs.
set -eu
for name in "$@"; do
  set -- "$@" --workspace "packages/$name"
  shift
done
npm ci --omit=dev --ignore-scripts --include-workspace-root "$@"
# Node, the browser and its fonts come from the image. The compiler is a peer of packages that only declare types for it.
cd node_modules
rm -rf .bin node @sparticuz @embedpdf @expo-google-fonts dejavu-fonts-ttf typescript @types
find . -type d \( -name test -o -name tests -o -name __tests__ -o -name test-jest -o -name benchmark -o -name benchmarks \) -prune -exec rm -rf {} +
find . -type f \( -name '*.test.*' -o -name '*.map' -o -name '*.d.ts' -o -name '*.d.mts' -o -name '*.d.cts' \) -delete
