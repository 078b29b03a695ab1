import { readFile, writeFile } from 'node:fs/promises'
import { invalidPaymentReasons } from '../src/payment/refusal.ts'

/** Writes the reasons of INVALID_PAYMENT into docs/api.md, so that the page cannot fall behind the code. */
const page = new URL('../docs/api.md', import.meta.url)

export function refusalTable(text: string): string {
  const rows = Object.entries(invalidPaymentReasons).map(
    ([reason, meaning]) => `| \`${reason}\` | ${meaning.replaceAll('|', String.raw`\|`)} |`,
  )
  const table = ['| reason | meaning |', '|---|---|', ...rows].join('\n')
  return text.replace(/(<!-- reasons:.*?-->)[\s\S]*?(<!-- \/reasons -->)/, `$1\n${table}\n$2`)
}

export async function readApiPage(): Promise<string> {
  return readFile(page, 'utf8')
}

if (import.meta.main) await writeFile(page, refusalTable(await readApiPage()))
