import { Keypair } from '@solana/web3.js'
import { type ReceiptFixture, openReceiptFixture } from '../../client/support/testReceipt.ts'
import { type ScriptedService, startScriptedService } from '../../client/support/scriptedService.ts'
import { mint, paymentWallet } from '../../client/support/testToken.ts'
import { openTerminal, type Terminal } from './terminal.ts'

/** A terminal next to a service in local mode: `local.json` names it, and its receipts are real ones. */
export interface LocalService {
  readonly terminal: Terminal
  readonly service: ScriptedService
  readonly receipts: ReceiptFixture
  readonly wallet: Keypair
}

export async function openLocalService(options: { readonly isTTY?: boolean } = {}): Promise<LocalService> {
  const [terminal, service, receipts] = await Promise.all([
    openTerminal(options),
    startScriptedService(),
    openReceiptFixture(),
  ])
  const wallet = Keypair.generate()
  service.onHang = () => terminal.clock.expire()
  service.receipt = ({ signature }, endpoint) =>
    receipts.sign({ signature, endpoint, wallet: wallet.publicKey.toBase58() })
  const { d: _private, ...receiptKey } = receipts.privateKey
  await terminal.writeFile('keys/demo-wallet.json', [...wallet.secretKey])
  await terminal.writeFile('local.json', {
    baseUrl: service.baseUrl,
    rpcUrl: service.rpcUrl,
    tokenMint: mint.toBase58(),
    paymentWallet: paymentWallet.toBase58(),
    demoWallet: { address: wallet.publicKey.toBase58(), keypairPath: 'keys/demo-wallet.json' },
    receiptKey,
  })
  return { terminal, service, receipts, wallet }
}
