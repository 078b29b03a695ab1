import { createAssociatedTokenAccountInstruction, getAssociatedTokenAddressSync } from '@solana/spl-token'
import { Connection, Keypair, PublicKey, sendAndConfirmTransaction, Transaction } from '@solana/web3.js'
import type { Json } from '@tollbook/core/canonicalJson'
import { isoTime, systemClock } from '@tollbook/core/clock'
import { silentLog } from '../../src/machine/log.ts'
import type { ChangeableSetting } from '../../src/settings/settingChange.ts'
import { valueWithOverlap } from '../../src/settings/settingPeriods.ts'
import { openSettingChanges } from '../../src/store/settingChanges.ts'
import { makeMemberLogin } from './memberLogin.ts'
import type { TestService } from './testService.ts'

/** A wallet that opened its token account itself. */
export async function openWallet({ chain }: TestService, mint: string): Promise<string> {
  const wallet = Keypair.generate()
  const connection = new Connection(chain.rpcUrl, { commitment: 'confirmed', wsEndpoint: chain.wsUrl })
  const signature = await connection.requestAirdrop(wallet.publicKey, 1_000_000_000)
  await connection.confirmTransaction({ signature, ...(await connection.getLatestBlockhash()) })
  const account = getAssociatedTokenAddressSync(new PublicKey(mint), wallet.publicKey)
  const instruction = createAssociatedTokenAccountInstruction(
    wallet.publicKey,
    account,
    wallet.publicKey,
    new PublicKey(mint),
  )
  await sendAndConfirmTransaction(connection, new Transaction().add(instruction), [wallet])
  return wallet.publicKey.toBase58()
}

/** The changes take effect now: no instance that runs has to be waited for but those of the test. */
export async function changeSettings(
  { database }: TestService,
  values: { readonly [Name in ChangeableSetting]?: Json },
  overlapMs: number,
): Promise<void> {
  const databaseUrl = await makeMemberLogin(database.adminUrl, 'tollbook_operator')
  const operator = await openSettingChanges({ databaseUrl, log: silentLog })
  try {
    // Not a whole second: it would be up to a second away, and the incoming instance would wait for it.
    const nowMs = systemClock.nowMs()
    for (const [name, value = null] of Object.entries(values)) {
      const event = {
        kind: 'SettingChanged',
        name,
        number: 2,
        validFrom: isoTime(nowMs),
        value: valueWithOverlap(name, value, isoTime(nowMs + overlapMs)),
      } as const
      await operator.change({ step: 'setting.change', name, number: 2, events: [event] })
    }
  } finally {
    await operator.close()
  }
}
