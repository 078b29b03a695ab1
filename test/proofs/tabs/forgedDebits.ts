import { type Order, qrOrder } from '../../support/ask.ts'
import { type DebitOptions, debitProof, newSessionKey, openTab, type OpenedTab } from '../../tabs/tabClient.ts'
import { type AttackBoard, type Came, cryptoOrder, depositBaseUnits, priceBaseUnits } from './attackBoard.ts'

let number = 0

interface Forged extends Partial<DebitOptions> {
  /** The order that is sent with the proof, if not the one that was signed. */
  readonly sent?: Order
  /** Changes the text of the proof. */
  readonly spell?: (proof: string) => string
  readonly wallet?: string
}

/** One forged debit, over HTTP and, for the same product, over MCP. */
async function forge({ http, tool, fleet }: AttackBoard, tab: OpenedTab, forged: Forged): Promise<readonly Came[]> {
  const { sent = qrOrder, spell = (proof) => proof, wallet, ...options } = forged
  const { payer } = fleet.environment
  const proof = spell(debitProof(tab, qrOrder, { number: ++number, ...options }))
  const over = [await http({ ...sent, proof, ...(wallet === undefined ? {} : { wallet }) })]
  if (sent.path !== qrOrder.path) return over
  const meta = { 'tollbook/wallet': wallet ?? payer.address, 'tollbook/payment-proof': proof }
  return [...over, await tool(sent.body, meta)]
}

const base64 = (plain: string) => Buffer.from(plain).toString('base64')
const plainOf = (proof: string) => Buffer.from(proof, 'base64').toString('latin1')
const respell = (change: (fields: string[]) => readonly string[]) => (proof: string) =>
  base64(change(plainOf(proof).split('.')).join('.'))
const withField = (at: number, value: string) => respell((fields) => fields.with(at, value))

const numbers = ['0', '-1', '01', '+1', '1e3', '1.0', ' 1', '9223372036854775808', '18446744073709551616', 'NaN', '']

interface Targets {
  readonly tab: OpenedTab
  readonly other: OpenedTab
  /** Of no tab. */
  readonly wallet: string
}

function forgeriesOf({ tab, other, wallet }: Targets): Readonly<Record<string, readonly Forged[]>> {
  const nowMs = Date.now()
  return {
    'a debit at another target': [{ sent: cryptoOrder('STOLEN') }, { signedTarget: '/api/tools/qrcode?x=1' }],
    'a debit with another body': [{ sent: { ...qrOrder, body: { data: 'stolen' } } }],
    'a debit of another method': [{ sent: { path: qrOrder.path } }],
    'a debit on another tab': [{ spell: withField(1, other.tab) }],
    'a debit for another service': [{ origin: 'tollbook/another' }],
    'a debit of another key': [{ key: newSessionKey() }],
    'a debit of another wallet': [{ wallet: wallet }],
    'a debit with another number': [{ spell: withField(2, '999999') }],
    'a debit with a higher maximum': [{ maxBaseUnits: 1n, spell: withField(3, '100000000') }],
    'a debit with a longer time': [{ validUntilMs: nowMs - 1, spell: withField(4, String(nowMs + 60_000)) }],
    'a debit on an unknown tab': [{ spell: withField(1, '4uQeVj5tqViQh7yWWGStvk') }],
    'a maximum below the price': [{ maxBaseUnits: priceBaseUnits - 1n }],
    'an expired debit': [{ validUntilMs: nowMs - 1 }, { validUntilMs: nowMs - 86_400_000 }],
    'a debit of the future': [{ validUntilMs: nowMs + 660_000 }, { validUntilMs: nowMs + 3_153_600_000_000 }],
    'numbers out of range': numbers.map((value) => ({ spell: withField(2, value) })),
    'amounts out of range': ['0', '-1', '9223372036854775808', '1e9', 'Infinity', ''].map((value) => ({
      spell: withField(3, value),
    })),
    'malformed proofs': malformed(tab).map((spell) => ({ spell })),
  }
}

const bytes64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64url')

function malformed(tab: OpenedTab): readonly ((proof: string) => string)[] {
  return [
    (proof) => proof.slice(0, -4),
    (proof) => proof.slice(4),
    (proof) => `${proof}\u00e9`,
    (proof) => `${proof}====`,
    (proof) => `${proof.slice(0, 60)} ${proof.slice(60)}`,
    (proof) => proof.replaceAll('=', '') + 'A',
    (proof) => base64(`${plainOf(proof)}\n`),
    (proof) => base64(`${plainOf(proof)}.x`),
    (proof) => base64(plainOf(proof).replace('tab1', 'TAB1')),
    (proof) => base64(plainOf(proof).replace('tab1', 'tab2')),
    (proof) => plainOf(proof),
    (proof) => base64(plainOf(proof).repeat(3)),
    withField(5, bytes64(new Uint8Array(64))),
    withField(5, bytes64(new Uint8Array(64).fill(255))),
    withField(5, bytes64(new Uint8Array(63))),
    withField(5, ''),
    () => base64(tab.deposit),
    () => tab.deposit,
    () => base64(JSON.stringify({ signature: tab.deposit, secret: 'x' })),
  ]
}

function mutantsOf(proof: string): readonly string[] {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
  return Array.from({ length: 200 }, (_, index) => {
    const at = (index * 7) % proof.length
    const old = alphabet.indexOf(proof[at] ?? '')
    return `${proof.slice(0, at)}${alphabet[(old + 1 + (index % 62)) % 64]}${proof.slice(at + 1)}`
  })
}

/** Debits that another statement was signed for, that are spelled otherwise, or that no key signed. */
export async function attackStatements(board: AttackBoard): Promise<void> {
  const { counter, note, http, expectThat, balanceOf, fleet } = board
  const [tab, other] = [await openTab(counter()), await openTab(counter())]
  const forgeries = forgeriesOf({ tab, other, wallet: fleet.environment.paymentWallet.publicKey.toBase58() })
  for (const [name, each] of Object.entries(forgeries)) {
    const came: Came[] = []
    for (const forged of each) came.push(...(await forge(board, tab, forged)))
    note(name, came)
  }
  const otherMint = { ...tab, mint: tab.key.address }
  note('a debit in another mint', await forge(board, otherMint, {}))
  const proof = debitProof(tab, qrOrder, { number: ++number })
  const came: Came[] = []
  for (const mutant of mutantsOf(proof)) came.push(await http({ ...qrOrder, proof: mutant }))
  note('a proof with one other character, 200 times', came)
  expectThat('no forgery costs a tab anything', (await balanceOf(tab)) === depositBaseUnits)
  expectThat('nor another tab', (await balanceOf(other)) === depositBaseUnits)
}
