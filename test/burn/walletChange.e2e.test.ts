import { Keypair } from '@solana/web3.js'
import { expect, test } from 'vitest'
import { isoTime, systemClock } from '@tollbook/core/clock'
import { burnChainOf } from '../../src/burn/openBurner.ts'
import { valueWithOverlap } from '../../src/settings/settingPeriods.ts'
import { silentLog } from '../../src/machine/log.ts'
import { openDatabase } from '../../src/store/database.ts'
import { openSettingChanges } from '../../src/store/settingChanges.ts'
import { accountOf, addressOf } from '../chain/chainFixture.ts'
import { afterFile } from '../support/afterFile.ts'
import { makeMemberLogin } from '../support/memberLogin.ts'
import { openBurnFixture, oweBurn } from './burnFixture.ts'

const environment = await openBurnFixture('SPL Token')
const { fixture, ledger, burnDeps, burn, approve, chain, clock, database } = environment
const next = Keypair.generate()

/** The parts of a job that was started with the new PAYMENT_WALLET. */
async function partsOfNewWallet() {
  const terms = {
    ...fixture.terms,
    paymentWallet: addressOf(next.publicKey),
    paymentTokenAccount: addressOf(accountOf(fixture, next.publicKey)),
  }
  const databaseUrl = await makeMemberLogin(database.adminUrl, 'tollbook_burner')
  const own = openDatabase({ databaseUrl, applicationName: 'test burn', connectionsMax: 1, log: silentLog })
  afterFile(() => own.destroy())
  return { terms, chain: burnChainOf({ ...chain, terms }, { database: own, clock }) }
}

test('a burn out of the former payment wallet is confirmed by a job with the new one', async () => {
  const wallet = { name: 'payment-wallet', value: fixture.terms.paymentWallet } as const
  await ledger.settings.record([wallet])
  await approve()
  const burnOwed = await oweBurn(environment)
  const before = await environment.supply()
  const dies = {
    ...burnDeps.chain,
    broadcast: (sent: Parameters<typeof burnDeps.chain.broadcast>[0]) =>
      burnDeps.chain.broadcast(sent).then(() => Promise.reject(new Error('killed'))),
  }
  await expect(burn({ chain: dies })).rejects.toThrow('killed')

  const operator = await openSettingChanges({
    databaseUrl: await makeMemberLogin(database.adminUrl, 'tollbook_operator'),
    log: silentLog,
  })
  const validFrom = isoTime(systemClock.nowMs())
  const value = valueWithOverlap(wallet.name, addressOf(next.publicKey), validFrom)
  const event = { kind: 'SettingChanged', name: wallet.name, number: 2, validFrom, value } as const
  await operator.change({ step: 'setting.change', name: wallet.name, number: 2, events: [event] })
  await operator.close()

  const parts = await partsOfNewWallet()
  expect(await burn(parts)).toMatchObject({ outcome: 'confirmed', baseUnits: burnOwed })
  expect(before - (await environment.supply())).toBe(burnOwed)
  expect(await burn(parts)).toEqual({ outcome: 'nothing_owed' })
})
