import { expect, test } from 'vitest'
import { assertPresent } from '@tollbook/core/assert'
import { startMintHealth, type WatchedMint } from '../../src/jobs/mintHealth.ts'
import { silentLog } from '../../src/machine/log.ts'
import { watchedDollar, watchedToken } from '../../src/start/jobs/watchedAccounts.ts'
import { mint, otherWallet } from '../payment/paymentStory.ts'
import { steppedClock } from '../support/steppedClock.ts'

const dollar = 10n ** 18n

/** A dollar whose markets and account answer as the test sets them. */
function scene(
  prices: readonly (bigint | undefined)[],
  account: { isFrozen: boolean } | undefined = { isFrozen: false },
) {
  const state = { prices, account }
  const watched: WatchedMint = {
    symbol: 'USDC',
    mint,
    sources: prices.map((_price, index) => ({
      ask() {
        const tokenPriceAttoUsd = state.prices[index]
        const source = `market ${index}`
        return Promise.resolve(
          tokenPriceAttoUsd === undefined
            ? { source, why: 'timeout' }
            : { source, tokenPriceAttoUsd, liquidityUsd: undefined },
        )
      },
    })),
    readAccounts: () => Promise.resolve([state.account]),
  }
  return { state, watched }
}

async function verdicts(watched: WatchedMint, change: () => void) {
  const clock = steppedClock()
  const health = await startMintHealth([watched], { clock, log: silentLog })
  const first = health.whyOff(mint)
  change()
  await clock.step()
  const second = health.whyOff(mint)
  await health.stop()
  return [first, second]
}

test('a dollar is on at its peg, and off only when two markets are more than 2 % away', async () => {
  const near = [dollar, (dollar * 98n) / 100n, (dollar * 102n) / 100n]
  for (const [prices, isOff] of [
    [near, false],
    [[dollar, dollar, dollar / 2n], false],
    [[dollar, (dollar * 97n) / 100n, (dollar * 103n) / 100n], true],
    [[undefined, undefined, dollar / 2n], false],
    [[undefined, dollar / 2n, dollar / 2n], true],
  ] as const) {
    const { state, watched } = scene(near)
    const found = await verdicts(watched, () => void (state.prices = prices))
    expect(found).toEqual([undefined, isOff ? '2 markets price USDC more than 2 % away from one US dollar' : undefined])
  }
})

test('a dollar that is off stays off while no market answers, and is on again at its peg', async () => {
  const { state, watched } = scene([dollar / 2n, dollar / 2n])
  const silent = await verdicts(watched, () => void (state.prices = [undefined, undefined]))
  expect(silent[1]).toBe(silent[0])
  state.prices = [dollar / 2n, dollar / 2n]
  const oneSilent = await verdicts(watched, () => void (state.prices = [undefined, dollar / 2n]))
  expect(oneSilent[1], 'the only market that answers says that the dollar is off').toBe(oneSilent[0])
  state.prices = [dollar / 2n, dollar / 2n]
  expect((await verdicts(watched, () => void (state.prices = [dollar, dollar])))[1]).toBeUndefined()
})

test('a dollar is off at a wrong price also while no node shows its accounts', async () => {
  const { state, watched } = scene([dollar, dollar])
  let isDown = false
  const readAccounts = () => (isDown ? Promise.reject(new Error('no node answers')) : watched.readAccounts())
  const found = await verdicts({ ...watched, readAccounts }, () => {
    isDown = true
    state.prices = [dollar / 2n, dollar / 2n]
  })
  expect(found).toEqual([undefined, '2 markets price USDC more than 2 % away from one US dollar'])
})

test('a dollar whose payment account is frozen or missing is off', async () => {
  const { state, watched } = scene([dollar])
  const frozen = await verdicts(watched, () => void (state.account = { isFrozen: true }))
  expect(frozen).toEqual([undefined, 'the issuer of USDC has frozen the token account of the payment wallet'])
  const missing: WatchedMint = { ...watched, readAccounts: () => Promise.resolve([undefined]) }
  expect((await verdicts(missing, () => undefined))[0]).toContain('has no token account for USDC')
})

test('the token is off only while its payment account is frozen, and may have no account yet', async () => {
  const terms = {
    mint,
    decimals: 6,
    tokenProgram: mint,
    paymentWallet: mint,
    paymentTokenAccount: otherWallet,
    network: 'solana:test',
  }
  const token = { owner: mint, baseUnits: 0n, requiresMemo: false, delegate: undefined, allowanceBaseUnits: 0n }
  let isFrozen: boolean | undefined
  const asked: (readonly string[])[] = []
  const watched = watchedToken({
    terms,
    readAccounts({ addresses }) {
      asked.push(addresses)
      return Promise.resolve([
        isFrozen === undefined ? undefined : { lamports: 1n, token: { ...token, mint, isFrozen } },
      ])
    },
  })
  const frozen = 'the issuer of the token has frozen the token account of the payment wallet'
  expect(await verdicts(watched, () => void (isFrozen = true))).toEqual([undefined, frozen])
  expect(await verdicts(watched, () => void (isFrozen = false))).toEqual([frozen, undefined])
  expect(new Set(asked.flat())).toEqual(new Set([otherWallet]))
})

test('a dollar is watched at the payment wallet and at the wallet for tabs', async () => {
  const [paid, deposited] = [mint, otherWallet].map((paymentTokenAccount) => {
    const own = { mint, decimals: 6, tokenProgram: mint, paymentWallet: mint, network: 'solana:test' }
    return { ...own, paymentTokenAccount }
  })
  const asked: unknown[] = []
  const watched = watchedDollar(
    { symbol: 'USDC', minimumMicroUsd: 1n, burn: 'none', rails: [], terms: assertPresent(paid, 'a wallet') },
    {
      chain: { readAccounts: ({ addresses }) => Promise.resolve(addresses.map((address) => void asked.push(address))) },
      ledger: { settings: { depositTerms: () => deposited } },
      marketSources: () => [],
    },
  )
  await watched.readAccounts()
  expect(asked).toEqual([mint, otherWallet])
})

test('a dollar is sold without deposits while the wallet for tabs cannot receive it', async () => {
  const { watched } = scene([dollar])
  const opened = { isFrozen: false }
  const startWith = async (ofTabs: { isFrozen: boolean } | undefined) => {
    const readAccounts = () => Promise.resolve([opened, ofTabs])
    const health = await startMintHealth([{ ...watched, readAccounts }], { clock: steppedClock(), log: silentLog })
    await health.stop()
    return [health.whyOff(mint), health.whyNoDeposit(mint), health.problem()]
  }
  const missing = 'the wallet for tabs has no token account for USDC; open it'
  expect(await startWith(undefined)).toEqual([undefined, missing, missing])
  expect((await startWith({ isFrozen: true }))[1]).toContain('has frozen the token account of the wallet for tabs')
  expect(await startWith(opened)).toEqual([undefined, undefined, undefined])
})
