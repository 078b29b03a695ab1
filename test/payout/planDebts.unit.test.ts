import { AccountLayout, MintLayout, TOKEN_PROGRAM_ID } from '@solana/spl-token'
import { Keypair, PublicKey } from '@solana/web3.js'
import { expect, test } from 'vitest'
import { snapshotText } from '../../src/accounting/holderSnapshot.ts'
import { tokenAccountOf } from '../../src/chain/walletTerms.ts'
import { readHolders } from '../../src/chain/readHolders.ts'
import { openHolderPayouts } from '../../src/payout/holderPayouts.ts'
import { planDebts } from '../../src/payout/planDebts.ts'
import { mint, otherWallet, wallet } from '../payment/paymentStory.ts'
import { sampleAddress } from '../store/samplePayment.ts'
import { addressOf } from '../support/feePayerKey.ts'
import { scriptedDatabase } from '../support/scriptedDatabase.ts'

/* Debts that a plan must not pay yet, and snapshots from which it must not be created. */

const tokenProgram = addressOf(TOKEN_PROGRAM_ID.toBase58())
const terms = {
  mint,
  decimals: 6,
  tokenProgram,
  paymentWallet: wallet,
  paymentTokenAccount: wallet,
  network: `solana:${'1'.repeat(32)}`,
}
const chain = Object.assign(Object.create(null), {
  terms,
  finality: { finalizedSlot: () => Promise.resolve(900) },
  readAccounts: () => Promise.resolve([]),
})
const wallets = Object.assign(Object.create(null), { require: () => Promise.resolve() })
const requireRecorded = () => Promise.resolve()

test('a debt whose wallet has a payment that is not final is listed with why it waits, and is not paid', async () => {
  const account = `Liabilities:Overpaid:${otherWallet}`
  const database = scriptedDatabase((statement) =>
    statement.includes('HolderPayoutPlanned') ? [] : [{ seq: 7, account, owed: '5', is_unsettled: true }],
  )
  const deps = { database, chain, wallets, requireRecorded }
  const planned = await planDebts(deps, { destinations: new Map(), leastBaseUnits: 1n })
  const why = 'a payment of the wallet is not final yet'
  expect(planned).toEqual({ plan: undefined, waiting: [{ account, baseUnits: 5n, why }] })
  const leaveOut = (...except: readonly string[]) =>
    planDebts(deps, { destinations: new Map(), leastBaseUnits: 1n, except })
  expect(await leaveOut(account), 'a debt that waits is owed, too').toEqual(planned)
  await expect(leaveOut(account, `${account}x`)).rejects.toThrow(`nothing is owed on ${account}x`)
})

test('the slot is read before the debts, and what is reserved before what is owed, so that no payment between is missed', async () => {
  const asked: string[] = []
  const database = scriptedDatabase((statement) => {
    asked.push(statement.includes('HolderPayoutPlanned') ? 'reserved' : 'owed')
    return statement.includes('HolderPayoutPlanned') ? [] : [{ seq: 7, account: null, owed: null, is_unsettled: false }]
  })
  const finalizedSlot = () => Promise.resolve(asked.push('slot'))
  const deps = { database, chain: { ...chain, finality: { finalizedSlot } }, wallets, requireRecorded }
  await planDebts(deps, { destinations: new Map(), leastBaseUnits: 1n })
  expect(asked).toEqual(['slot', 'reserved', 'owed'])
})

test('a snapshot of a slot that the finalized chain has not reached is refused', async () => {
  const planAt = (slot: number) => {
    const { mint: ofMint, network, decimals } = terms
    const text = snapshotText({ network, mint: ofMint, tokenProgram, decimals, slot, accounts: [] })
    const database = scriptedDatabase((statement) =>
      statement.includes('HolderPayoutPlanned') ? [] : [{ seq: 7, account: null, owed: null, is_unsettled: false }],
    )
    const deps = { database, chain, wallets, requireRecorded, rpcUrl: '', serviceToken: mint, seam: undefined }
    const given = { share: 'holders', excluded: [], minimumBaseUnits: 1n, openAccountsMax: 0 }
    return openHolderPayouts(Object.assign(Object.create(null), deps)).plan({ ...given, snapshotText: text })
  }
  await expect(planAt(901)).rejects.toThrow('the snapshot is of slot 901, and the chain is at 900')
  expect(await planAt(900), 'nothing is owed').toBeUndefined()
})

test('tokens that are lost, wallets of ours and closed accounts get no part of a share', async () => {
  const [incinerator, zero] = ['1nc1nerator11111111111111111111111111111111', '1'.repeat(32)].map(addressOf)
  const [holder, closed, own] = [sampleAddress(), sampleAddress(), sampleAddress()]
  const ownedBy = (owner: string | undefined, address: string) => {
    const account = { address: addressOf(address), owner: addressOf(owner ?? ''), baseUnits: 50n, isFrozen: false }
    return account
  }
  const associated = [holder, incinerator, zero, own].map((owner) =>
    ownedBy(owner, tokenAccountOf(terms, addressOf(owner ?? ''))),
  )
  // A holder in an account of another address has closed the associated one.
  const accounts = [...associated, ownedBy(closed, sampleAddress())].toSorted((one, other) =>
    one.address < other.address ? -1 : 1,
  )
  const { mint: ofMint, network, decimals } = terms
  const text = snapshotText({ network, mint: ofMint, tokenProgram, decimals, slot: 900, accounts })
  const account = 'Liabilities:Share:holders'
  const database = scriptedDatabase((statement) => {
    if (statement.includes('select distinct')) return [{ wallet: closed }]
    return statement.includes('HolderPayoutPlanned') ? [] : [{ seq: 7, account, owed: '9', is_unsettled: false }]
  })
  const ours = { ...wallets, require: wallets.require, all: () => Promise.resolve([wallet, own]) }
  const covered = { ...ours, requireCover: () => Promise.resolve() }
  const deps = { database, chain, wallets: covered, requireRecorded, rpcUrl: '', serviceToken: mint, seam: undefined }
  const given = { share: 'holders', excluded: [], minimumBaseUnits: 1n, openAccountsMax: 5 }
  const plan = await openHolderPayouts(Object.assign(Object.create(null), deps)).plan({ ...given, snapshotText: text })
  expect(plan?.parts).toEqual([[{ account, wallet: holder, baseUnits: 9n }]])
})

test('the accounts of a snapshot add up to a supply between the ones before and after it, because burns go on', async () => {
  const nobody = { owner: new PublicKey(wallet), mint: new PublicKey(mint) }
  const accountOf = (amount: bigint) => {
    const data = Buffer.alloc(AccountLayout.span)
    const options = {
      delegateOption: 0,
      delegate: nobody.owner,
      delegatedAmount: 0n,
      isNativeOption: 0,
      isNative: 0n,
    } as const
    const rest = { ...options, closeAuthorityOption: 0, closeAuthority: nobody.owner, state: 1 } as const
    AccountLayout.encode({ ...nobody, ...rest, amount }, data)
    return { pubkey: Keypair.generate().publicKey.toBase58(), account: { data: [data.toString('base64'), 'base64'] } }
  }
  const mintOf = (supply: bigint) => {
    const data = Buffer.alloc(MintLayout.span)
    const authorities = { mintAuthorityOption: 0, mintAuthority: nobody.owner, freezeAuthority: nobody.owner } as const
    MintLayout.encode({ ...authorities, freezeAuthorityOption: 0, supply, decimals: 6, isInitialized: true }, data)
    return { value: { owner: tokenProgram, data: [data.toString('base64'), 'base64'] } }
  }
  const held = (supplies: readonly bigint[], ...balances: readonly bigint[]) =>
    holding(supplies, balances.map(accountOf))
  const holding = async (supplies: readonly bigint[], value: readonly ReturnType<typeof accountOf>[]) => {
    const left = [...supplies]
    const answers: Readonly<Record<string, () => unknown>> = {
      getGenesisHash: () => '1'.repeat(44),
      getAccountInfo: () => mintOf(left.shift() ?? 0n),
      getProgramAccounts: () => ({ context: { slot: 900 }, value }),
    }
    const postJson = (_url: string, body: string) =>
      Promise.resolve({ result: answers[String(JSON.parse(body).method)]?.() })
    return (await readHolders({ url: 'node', postJson }, terms)).accounts.length
  }
  expect(await held([100n, 100n], 60n, 40n)).toBe(2)
  expect(await held([100n, 90n], 60n, 35n), 'a burn between the questions').toBe(2)
  expect(await held([90n, 100n], 60n, 35n), 'a mint between the questions').toBe(2)
  await expect(held([100n, 90n], 60n, 29n)).rejects.toThrow('hold 89 base units')
  await expect(held([100n, 90n], 60n, 41n)).rejects.toThrow('hold 101 base units')
  const twice = accountOf(40n)
  await expect(holding([100n, 100n], [twice, accountOf(20n), twice])).rejects.toThrow(`${twice.pubkey} twice`)
})
