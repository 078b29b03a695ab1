import { readFile, writeFile } from 'node:fs/promises'
import { assertPresent } from '@tollbook/core/assert'
import { caseTables } from '../test/chain/cases/caseTables.ts'

/** Writes the cases that the tests run into docs/verification.md, so that neither can have one that the other has not. */
const page = new URL('../docs/verification.md', import.meta.url)

export function withCaseTables(text: string): string {
  const tables = caseTables()
  return text.replace(/<!-- cases:(\w+) -->[\s\S]*?<!-- \/cases -->/g, (_place, name: string) => {
    const table = assertPresent(tables.get(name), `there are cases for rule ${name}`)
    return `<!-- cases:${name} -->\n${table}\n<!-- /cases -->`
  })
}

export async function readVerificationPage(): Promise<string> {
  return readFile(page, 'utf8')
}

if (import.meta.main) await writeFile(page, withCaseTables(await readVerificationPage()))
