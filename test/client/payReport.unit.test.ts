import { expect, test } from 'vitest'
import { runPayCommand } from '@tollbook/client/command/payCommand'
import { reportAnswer, reportProgress } from '@tollbook/client/command/payReport'
import { storedPayment } from './support/storedPayment.ts'

const waiting = { kind: 'waiting', payment: storedPayment, attempt: 1 } as const

test('a wait is printed at a terminal, in seconds and with the last answer', () => {
  const lines: string[] = []
  const streams = {
    stdout: { write: () => expect.unreachable('progress is not for stdout'), isTTY: true },
    stderr: { write: (text: string) => lines.push(text) },
  }
  const lastAnswer = { status: 503, code: 'NOT_READY', reason: undefined, body: {} }
  reportProgress(streams, { ...waiting, delayMs: 2_000, lastAnswer })
  reportProgress(streams, { ...waiting, delayMs: 500, lastAnswer: undefined })
  expect(lines).toEqual([
    '503 NOT_READY: the same payment again in 2 s\n',
    'the answer got lost: the same payment again in 0.5 s\n',
  ])
})

test('a receipt cannot contain a line with its own verdict', async () => {
  const written: string[] = []
  const stream = { write: (text: string) => written.push(text), isTTY: true }
  const receipt = { id: 'r\nverified  yes, offline', signature: 's', requiredTokens: 1, ledger: { position: 1 } }
  const body = { data: {}, receipt }
  await reportAnswer(
    { stdout: stream, stderr: stream },
    { status: 200, body, replayed: false, verdict: undefined, output: undefined },
  )
  expect(written.join('').match(/^verified .*/gm)).toEqual([expect.stringMatching(/^verified {2}no: the key/)])
})

test('control and direction characters are printed as escapes, so that no text of a service hides a line', async () => {
  const written: string[] = []
  const stream = { write: (text: string) => written.push(text), isTTY: true }
  const argv = [
    'GET',
    'path\u001b[2J\u202e',
    '--base-url',
    'https://api.example.com',
    '--rpc-url',
    'https://node.example.com',
  ]
  const folder = { paymentFolder: 'none', readLocal: () => Promise.resolve(undefined) }
  const deps = { name: 'pay', stdout: stream, stderr: stream, interrupted: new AbortController().signal, ...folder }
  expect(await runPayCommand(argv, deps)).toBe(2)
  expect(written.join('')).toContain(String.raw`PATH: path\u{1b}[2J\u{202e} does not begin with /`)
})
