import { createHash, randomBytes } from 'node:crypto'
import { askForQuote, qrOrder } from '../../support/ask.ts'
import { debitProof, newSessionKey, openTab, readOpenedTab } from '../../tabs/tabClient.ts'
import { type AttackBoard, cryptoOrder, depositBaseUnits, priceBaseUnits } from './attackBoard.ts'

const base64 = (plain: string) => Buffer.from(plain).toString('base64')

/** Deposits that strangers present, that are presented at once, and that are presented again. */
export async function attackDeposits(board: AttackBoard): Promise<void> {
  const { counter, note, http, many, expectThat, balanceOf, atOnce, fleet } = board
  const { payer } = fleet.environment
  const [owner, thief] = [newSessionKey(), newSessionKey()]
  const order = { path: '/api/tabs', body: { depositUsd: 1, sessionKey: owner.address } }
  const stolen = { path: '/api/tabs', body: { depositUsd: 1, sessionKey: thief.address } }
  const payment = await payer.sign(await askForQuote(counter(), order), { bound: true })
  await payer.send(payment)
  const { signature } = payment
  const bare = [base64(signature), base64(Buffer.from(payment.bytes.subarray(1, 65)).toString('latin1'))]
  const bound = base64(JSON.stringify({ signature, secret: payment.secret }))
  const guesses = [
    ...bare,
    base64(JSON.stringify({ signature, secret: 'A'.repeat(43) })),
    Buffer.from(payment.bytes).toString('base64'),
  ]
  note(
    "a stranger's key on a deposit that is on the chain",
    await many((index) => http({ ...stolen, proof: guesses[index % guesses.length] ?? '' })),
  )
  const came = await many((index) => http(index % 4 === 3 ? { ...stolen, proof: bound } : { ...order, proof: bound }))
  note('one deposit at once, a quarter for another key', came, atOnce)
  const opened = new Set(
    came.filter(({ status }) => status === 200).map(({ body }) => JSON.stringify(readOpenedTab(body))),
  )
  expectThat('the deposit opened one tab, although strangers presented it first', opened.size === 1)
  // The holder of the secret decides whose key is first.
  const isThiefs = came.findIndex(({ status }) => status === 200) % 4 === 3
  const [key, other] = isThiefs ? [thief, owner] : [owner, thief]
  const tab = { ...readOpenedTab(JSON.parse(`{"data":${[...opened][0] ?? '{}'}}`)), key }
  expectThat('one deposit is on it once', (await balanceOf(tab)) === depositBaseUnits)
  note('a debit by the other key', [
    await http({ ...qrOrder, proof: debitProof(tab, qrOrder, { number: 1, key: other }) }),
  ])

  const more = { path: '/api/tabs', body: { depositUsd: 1, tab: tab.tab } }
  const proofs = [1, 2].map(async () => payer.pay(await askForQuote(counter(), more), 'boundSignature'))
  const [first = '', second = ''] = await Promise.all(proofs)
  note(
    'two top-ups at once, each many times',
    await many((index) => http({ ...more, proof: index % 2 === 0 ? first : second })),
    atOnce,
  )
  expectThat('each top-up counts once', (await balanceOf(tab)) === 3n * depositBaseUnits)
  note('the deposit again as a top-up', [await http({ ...more, proof: bound })])
}

/** More holds than the tab has, and one number many times. */
export async function attackBalance(board: AttackBoard): Promise<void> {
  const { counter, note, http, many, expectThat, balanceOf, atOnce, runsOf } = board
  const tab = await openTab(counter())
  const came = await many((index) => {
    const order = cryptoOrder(`H${index}`)
    return http({ ...order, proof: debitProof(tab, order, { number: index + 1 }) })
  })
  note('holds above the balance at once', came, Number(depositBaseUnits / priceBaseUnits))
  const sold = BigInt(came.filter(({ status }) => status === 200).length)
  expectThat('every sale was held', (await balanceOf(tab)) === depositBaseUnits - sold * priceBaseUnits)
  expectThat('the money bought as much as it could', sold === depositBaseUnits / priceBaseUnits || atOnce < 20)

  const one = await openTab(counter())
  const same = cryptoOrder('ONE')
  const again = await many(() => http({ ...same, proof: debitProof(one, same, { number: 1 }) }))
  note('one number at once', again, atOnce)
  const receipts = new Set(
    again.flatMap(({ status, body }) => (status === 200 ? [JSON.stringify(body['receipt'])] : [])),
  )
  expectThat('one number is sold once', receipts.size === 1 && (await runsOf('ONE')) === 1)
  const orders = await many((index) => {
    const order = cryptoOrder(`D${index}`)
    return http({ ...order, proof: debitProof(one, order, { number: 2 }) })
  })
  note('one number for other orders at once', orders, 1)
  expectThat('two numbers cost two prices', (await balanceOf(one)) === depositBaseUnits - 2n * priceBaseUnits)
}

/** Forged bearer keys, and the limit of the day over all instances. */
export async function attackBearer(board: AttackBoard): Promise<void> {
  const { counter, note, http, tool, many, expectThat, balanceOf } = board
  const secret = randomBytes(32)
  const bearerSha256 = createHash('sha256').update(secret).digest('hex')
  const tab = await openTab(counter(), { bearerSha256, maxPerDayUsd: 0.1 })
  const keyOf = (bytes: Uint8Array) => `${tab.bearerPrefix ?? ''}${Buffer.from(bytes).toString('base64url')}`
  const asBearer = (key: string) => http({ ...qrOrder, headers: { authorization: `Bearer ${key}` } })
  const forged = [
    keyOf(randomBytes(32)),
    keyOf(secret.subarray(1)),
    `${keyOf(secret)}A`,
    keyOf(secret).slice(0, -1),
    tab.bearerPrefix ?? '',
    'tbt_',
  ]
  note('forged bearer keys', await Promise.all(forged.map(asBearer)))
  note('forged bearer keys', await Promise.all(forged.map((key) => tool(qrOrder.body, { 'tollbook/tab-key': key }))))
  const came = await many((index) =>
    index % 2 === 0 ? asBearer(keyOf(secret)) : tool(qrOrder.body, { 'tollbook/tab-key': keyOf(secret) }),
  )
  note("the bearer key's limit of the day at once", came, 2)
  expectThat('the limit of the day holds', (await balanceOf(tab)) >= depositBaseUnits - 2n * priceBaseUnits)
}
