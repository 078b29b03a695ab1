import { readFile, writeFile } from 'node:fs/promises'
import { reasonsTable } from '../src/document/introduction.ts'

/** Writes the reasons of INVALID_PAYMENT into docs/api.md, so that the page cannot fall behind the code. */
const page = new URL('../docs/api.md', import.meta.url)

export function refusalTable(text: string): string {
  return text.replace(/(<!-- reasons:.*?-->)[\s\S]*?(<!-- \/reasons -->)/, `$1\n${reasonsTable()}\n$2`)
}

export async function readApiPage(): Promise<string> {
  return readFile(page, 'utf8')
}

if (import.meta.main) await writeFile(page, refusalTable(await readApiPage()))
