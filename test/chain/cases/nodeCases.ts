import { z } from 'zod'
import { errorReply, resultReply, type Tamper } from '../tamperingNode.ts'

/**
 * Rule 1e: what a broken or lying node does to its answer about a payment that is good. None of these may become a
 * verdict: with each of them we do not know (I8).
 */
export interface NodeCase {
  readonly says: string
  readonly tamper: Tamper
}

export const nodeCases: readonly NodeCase[] = [
  ...transportCases(),
  ...refusalCases(),
  ...omissionCases(),
  ...forgeryCases(),
]

/** The node is unreachable, or its answer is not valid. */
function transportCases(): readonly NodeCase[] {
  const text =
    (status: number, body: string): Tamper =>
    () => ({ status, text: body })
  return [
    { says: 'HTTP 500', tamper: text(500, '{"jsonrpc":"2.0","id":1,"result":null}') },
    { says: 'HTTP 429', tamper: text(429, 'slow down') },
    { says: 'HTTP 503 without a body', tamper: text(503, '') },
    { says: 'a redirect', tamper: () => ({ status: 302, text: '', location: 'http://127.0.0.1:1/' }) },
    { says: 'no answer in time', tamper: () => 'hang' },
    { says: 'the connection is cut', tamper: () => 'cut' },
    { says: 'an empty body', tamper: text(200, '') },
    { says: 'a page of HTML', tamper: text(200, '<html>maintenance</html>') },
    { says: 'JSON that is not an answer', tamper: text(200, '[]') },
    { says: 'an answer with neither result nor error', tamper: text(200, '{"jsonrpc":"2.0","id":1}') },
    {
      says: 'an answer that is cut off',
      tamper: async ({ forward }) => ({ status: 200, text: (await forward()).slice(0, -20) }),
    },
    { says: 'an answer of 5 MiB', tamper: () => resultReply('x'.repeat(5 * 1024 * 1024)) },
    { says: 'a result that is a string', tamper: () => resultReply('paid') },
  ]
}

/** The node understood and does not want to. */
function refusalCases(): readonly NodeCase[] {
  const error =
    (code: number, message: string): Tamper =>
    () =>
      errorReply(code, message)
  return [
    {
      says: 'error -32015, it does not support this version of transaction',
      tamper: error(-32015, 'unsupported version'),
    },
    { says: 'error -32011, it keeps no history', tamper: error(-32011, 'transaction history is not available') },
    { says: 'error -32005, it is behind', tamper: error(-32005, 'node is behind by 42 slots') },
    { says: 'error -32603, internal error', tamper: error(-32603, 'internal error') },
    { says: 'error -32602, it rejects the parameters', tamper: error(-32602, 'invalid params') },
  ]
}

/** The node leaves out what the verdict depends on. */
function omissionCases(): readonly NodeCase[] {
  const withoutMeta = (field: string) =>
    changed((answer) => ({ ...answer, meta: { ...answer.meta, [field]: undefined } }))
  const nullMeta = (field: string) => changed((answer) => ({ ...answer, meta: { ...answer.meta, [field]: null } }))
  return [
    { says: 'meta is null', tamper: changed((answer) => ({ ...answer, meta: null })) },
    { says: 'meta.err is missing', tamper: withoutMeta('err') },
    { says: 'innerInstructions are missing', tamper: withoutMeta('innerInstructions') },
    { says: 'innerInstructions are null', tamper: nullMeta('innerInstructions') },
    { says: 'preTokenBalances are missing', tamper: withoutMeta('preTokenBalances') },
    { says: 'preTokenBalances are null', tamper: nullMeta('preTokenBalances') },
    { says: 'postTokenBalances are missing', tamper: withoutMeta('postTokenBalances') },
    { says: 'postTokenBalances are null', tamper: nullMeta('postTokenBalances') },
    { says: 'loadedAddresses are missing', tamper: withoutMeta('loadedAddresses') },
    { says: 'the slot is missing', tamper: changed((answer) => ({ ...answer, slot: undefined })) },
    {
      says: 'the owner of a token balance is missing',
      tamper: changedBalances((balance) => ({ ...balance, owner: undefined })),
    },
    {
      says: 'a token balance has only its display form',
      tamper: changedBalances((balance) => ({ ...balance, uiTokenAmount: { uiAmount: 1.5, uiAmountString: '1.5' } })),
    },
    {
      says: 'one loaded address is missing, which shifts those behind it',
      tamper: changed(({ meta, ...answer }) => {
        const { loadedAddresses } = meta
        const writable = loadedAddresses.writable.slice(1)
        return { ...answer, meta: { ...meta, loadedAddresses: { ...loadedAddresses, writable } } }
      }),
    },
  ]
}

/** The node says what did not happen. The payer's signatures are over the real transaction, so they give it away. */
function forgeryCases(): readonly NodeCase[] {
  const message = (change: (message: MessageAnswer) => object) =>
    changed(({ transaction, ...answer }) => ({
      ...answer,
      transaction: { ...transaction, message: change(transaction.message) },
    }))
  const other = '4vJ9JU1bJJE96FWSJKvHsmmFADCg4gpZQff4P3bkLKi'
  return [
    { says: 'another transaction', tamper: changedSignatures(([, ...rest]) => ['5'.repeat(87), ...rest]) },
    {
      says: 'an altered second signature',
      tamper: changedSignatures(([first = '', second = '']) => [first, twist(second)]),
    },
    { says: 'one signature too many', tamper: changedSignatures((all) => [...all, ...all]) },
    {
      says: 'an altered amount in an instruction',
      tamper: message(({ instructions, ...rest }) => ({
        ...rest,
        instructions: instructions.map((each) => ({ ...each, data: twist(each.data) })),
      })),
    },
    {
      says: 'another wallet in place of a signer',
      tamper: message(({ accountKeys, ...rest }) => ({
        ...rest,
        accountKeys: accountKeys.map((key, index) => (index === 1 ? other : key)),
      })),
    },
    {
      says: 'another account in place of the last one',
      tamper: message(({ accountKeys, ...rest }) => ({ ...rest, accountKeys: [...accountKeys.slice(0, -1), other] })),
    },
    {
      says: 'one instruction twice',
      tamper: message(({ instructions, ...rest }) => ({ ...rest, instructions: [...instructions, ...instructions] })),
    },
    { says: 'another blockhash', tamper: message((rest) => ({ ...rest, recentBlockhash: other })) },
    {
      says: 'one signer fewer in the header',
      tamper: message(({ header, ...rest }) => ({
        ...rest,
        header: { ...header, numRequiredSignatures: header.numRequiredSignatures - 1 },
      })),
    },
    {
      says: 'an account key that is not an address',
      tamper: message((rest) => ({ ...rest, accountKeys: ['tokens'] })),
    },
    { says: 'the version of another transaction', tamper: changed((answer) => ({ ...answer, version: 'legacy' })) },
    {
      says: 'a loaded address in the wrong list, which shifts the others',
      tamper: changed(({ meta, ...answer }) => {
        const { writable, readonly } = meta.loadedAddresses
        const loadedAddresses = { writable: [...readonly, ...writable], readonly: [] }
        return { ...answer, meta: { ...meta, loadedAddresses } }
      }),
    },
    {
      says: 'a token balance of an account that is not there',
      tamper: changedBalances((balance) => ({ ...balance, accountIndex: 250 })),
    },
    {
      says: 'a token balance below zero',
      tamper: changedBalances((balance) => ({ ...balance, uiTokenAmount: { amount: '-1' } })),
    },
    {
      says: 'an inner instruction with data that is not base58',
      tamper: changed(({ meta, ...answer }) => ({
        ...answer,
        meta: {
          ...meta,
          innerInstructions: meta.innerInstructions.map((inner) => ({
            ...inner,
            instructions: inner.instructions.map((each) => ({ ...each, data: '0OIl' })),
          })),
        },
      })),
    },
  ]
}

const messageAnswer = z.looseObject({
  header: z.looseObject({ numRequiredSignatures: z.number() }),
  accountKeys: z.array(z.string()),
  instructions: z.array(z.looseObject({ data: z.string() })),
})
type MessageAnswer = z.infer<typeof messageAnswer>

const balanceAnswer = z.looseObject({ accountIndex: z.number() })
type BalanceAnswer = z.infer<typeof balanceAnswer>

const transactionAnswer = z.looseObject({
  transaction: z.looseObject({ signatures: z.array(z.string()), message: messageAnswer }),
  meta: z.looseObject({
    innerInstructions: z.array(z.looseObject({ instructions: z.array(z.looseObject({ data: z.string() })) })),
    postTokenBalances: z.array(balanceAnswer),
    loadedAddresses: z.looseObject({ writable: z.array(z.string()), readonly: z.array(z.string()) }),
  }),
})
type TransactionAnswer = z.infer<typeof transactionAnswer>

const answerShape = z.object({ result: transactionAnswer })

/** The chain's own answer about a transaction, with one thing changed. */
export function changed(change: (answer: TransactionAnswer) => object): Tamper {
  return async ({ forward }) => resultReply(change(answerShape.parse(JSON.parse(await forward())).result))
}

function changedBalances(change: (balance: BalanceAnswer) => object): Tamper {
  return changed(({ meta, ...answer }) => ({
    ...answer,
    meta: { ...meta, postTokenBalances: meta.postTokenBalances.map(change) },
  }))
}

function changedSignatures(change: (signatures: readonly string[]) => readonly string[]): Tamper {
  return changed(({ transaction, ...answer }) => ({
    ...answer,
    transaction: { ...transaction, signatures: change(transaction.signatures) },
  }))
}

/** The same length and alphabet, but another value. */
function twist(base58Text: string): string {
  return (base58Text.startsWith('2') ? '3' : '2') + base58Text.slice(1)
}
