import { Connection, Keypair, LAMPORTS_PER_SOL } from '@solana/web3.js'
import { assertPresent } from '@tollbook/core/assert'
import { systemClock } from '@tollbook/core/clock'
import { silentLog } from '../../src/machine/log.ts'
import { signingTerms } from '../../src/signer/feePayerSigner.ts'
import { openSigner } from '../../src/signer/openSigner.ts'
import { openSignatureStore } from '../../src/store/signatureStore.ts'
import type { ProofEnvironment } from '../../test/proofs/proofEnvironment.ts'
import { makeMemberLogin } from '../../test/support/memberLogin.ts'
import { addressOf, signerKey } from '../../test/support/feePayerKey.ts'
import { devnet } from './peerSettings.ts'

const generous = {
  perDayLamports: BigInt(LAMPORTS_PER_SOL),
  perWalletAndDayLamports: BigInt(LAMPORTS_PER_SOL),
  perPaymentLamports: 20_000n,
}

/** A signer with a funded fee payer, and the environment of a server that offers x402 and MPP by it. */
export async function openFeePayer({ chain, database, env, directory }: ProofEnvironment) {
  const feePayer = Keypair.generate()
  await new Connection(chain.rpcUrl, 'confirmed').requestAirdrop(feePayer.publicKey, LAMPORTS_PER_SOL)
  const socketPath = `${directory}/signer.sock`
  const setting = (name: string) => addressOf(assertPresent(env[name], `the service has ${name}`))
  const databaseUrl = await makeMemberLogin(database.adminUrl, 'tollbook_signer')
  const journal = await openSignatureStore({ databaseUrl, log: silentLog })
  const signer = await openSigner({
    clock: systemClock,
    log: silentLog,
    address: { socketPath },
    journal,
    key: signerKey(feePayer),
    terms: signingTerms({ mint: setting('TOKEN_MINT'), paymentWallet: setting('PAYMENT_WALLET') }),
    limits: generous,
  })
  return {
    env: { SIGNER_SOCKET: socketPath, X402_NETWORK: devnet },
    async [Symbol.asyncDispose]() {
      await signer.close()
      await journal.close()
    },
  }
}
