import '@tollbook/core/quietBindings'
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { z } from 'zod'
import { assertPresent } from '@tollbook/core/assert'
import { type FinanceService, openFinanceService } from './finance/financeService.ts'
import { openBrowser } from './finance/openBrowser.ts'
import { createChecks, createPageLooks } from './finance/pageLooks.ts'
import { proofCommand, wholeNumber } from './proofCommand.ts'
import { concludeProof, say } from './verdict.ts'

/*
 * The ten questions of docs/finance.md: the command and the page of each row of that table are tried on a seeded
 * ledger, and both have an answer.
 */

const flags = proofCommand('questions', 'The ten questions of docs/finance.md, each by its command and its page.')
  .option('--payments <n>', 'payments in the ledger', wholeNumber, 1_000)
  .option('--pictures <prefix>', 'write a picture of each page to PREFIX-question-<n>.png')
  .parse()
  .opts<{ payments: number; pictures?: string }>()
const root = new URL('../..', import.meta.url)
const program = new URL('src/cli/tollbook.js', root).pathname
const linesShown = 6
const waitMs = 15_000
// `tollbook reconcile` of a wallet that differs from the ledger, as on a seeded ledger: no chain has its payments.
const differsExitCode = 9
const found = z.object({ rows: z.array(z.object({ reference: z.string(), wallet: z.string() })) })
const failed = z.object({ code: z.number(), stdout: z.string(), stderr: z.string() })

interface Question {
  readonly words: string
  readonly command: string
  readonly address: string
}

await using opened = new AsyncDisposableStack()
const service = opened.use(await openFinanceService({ payments: flags.payments, durationMaxMs: 300_000 }))
const { browser, end } = await openBrowser()
opened.defer(end)
const checks = createChecks()
const { openPage, judge } = await createPageLooks({ browser, checks, pictures: flags.pictures })
const questions = questionsOf(await readFile(new URL('docs/finance.md', root), 'utf8'))
checks.check(questions.length === 10, `docs/finance.md has ${questions.length} questions`)
for (const [index, question] of questions.entries()) {
  const subject = await subjectFor(service, question.words)
  say(`${index + 1}. ${question.words}`)
  await answerByCommand(filled(question.command, subject))
  await answerByPage(filled(question.address, subject), `question-${index + 1}`)
}
concludeProof({
  holds: checks.problems.length === 0,
  lines: [`${questions.length} questions, ${checks.problems.length} problems`],
})

/** Rows of the table: a question, a command, and an address. */
function questionsOf(page: string): readonly Question[] {
  const table = page.split('## Ten questions')[1]?.split('\n## ')[0] ?? ''
  return [...table.matchAll(/^\| ([^|]+) \| `tollbook ([^`]+)`[^|]* \| `(\/finance[^`]*)` \|$/gm)].map(
    ([, words = '', command = '', address = '']) => ({ words, command, address }),
  )
}

interface Subject {
  readonly signature: string
  readonly wallet: string
}

/** A payment that fits the question. */
async function subjectFor({ dataOf }: FinanceService, words: string): Promise<Subject> {
  const state = /without a quote/.test(words) ? 'unmatched' : /nothing|refund/.test(words) ? 'refund_due' : 'fulfilled'
  const path = /overpaid/.test(words) ? 'refunds?limit=1' : `payments?state=${state}&limit=1`
  const { reference, wallet } = assertPresent(
    (await dataOf(path, found)).rows[0],
    `the seed has payments for: ${words}`,
  )
  return { signature: reference.replace(/^solana:/, ''), wallet }
}

function filled(text: string, { signature, wallet }: Subject): string {
  return text.replaceAll('SIG', signature).replaceAll('WALLET', wallet)
}

async function answerByCommand(command: string): Promise<void> {
  const { exitCode, output } = await run(command.split(' '))
  const lines = output.split('\n').filter((line) => line !== '')
  for (const line of lines.slice(0, linesShown)) say(`       ${line.slice(0, 150)}`)
  const isAnswered = (exitCode === 0 || exitCode === differsExitCode) && lines.length > 1
  checks.check(isAnswered, `npx tollbook ${command}: ${lines.length} lines, exit code ${exitCode}`)
}

async function run(words: readonly string[]): Promise<{ readonly exitCode: number; readonly output: string }> {
  const env = { ...process.env, ...service.env }
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [program, ...words], { env })
    return { exitCode: 0, output: stdout }
  } catch (error) {
    const { code, stdout, stderr } = failed.parse(error)
    return { exitCode: code, output: `${stdout}${stderr}` }
  }
}

async function answerByPage(address: string, name: string): Promise<void> {
  const { page, errors } = await openPage('light', { width: 1280, height: 900 })
  await page.goto(`${service.baseUrl}${address}#token=${service.financeToken}`)
  const answer = address.includes('payment=')
    ? 'dialog[open] .explanation .staff'
    : address.includes('reconciliation')
      ? '#reconciliation:not([hidden]) .note'
      : '#reports:not([aria-busy]) tbody tr'
  const shown = await page.waitForSelector(answer, { timeout: waitMs }).catch(() => null)
  const text = (await shown?.evaluate((part) => part.textContent)) ?? ''
  checks.check(text !== '' && errors.length === 0, `${address}: "${text.slice(0, 100)}"`)
  await judge(page, name)
  await page.close()
}
