import { readFileSync } from 'node:fs'

/** An example of docs/gateway.md, under the name in its first line. */
export interface PageExample {
  readonly name: string
  readonly text: string
}

/** Reads the files of the page, as a reader copies them. */
export function examplesOfPage(): readonly PageExample[] {
  const page = readFileSync('docs/gateway.md', 'utf8')
  return [...page.matchAll(/^( *)```yaml\n *# (\S+)\n([^]*?)^ *```/gm)].map(
    ([, indent = '', name = '', text = '']) => ({
      name,
      text: text.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
    }),
  )
}
