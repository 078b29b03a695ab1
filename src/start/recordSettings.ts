import type { PaymentTerms } from '../payment/settlement.ts'
import type { SplitShare } from '../pricing/splitSetting.ts'
import type { SettingStore } from '../store/settingStore.ts'
import type { ReceiptKeys } from './openReceiptKeys.ts'

interface RecordedSettings {
  readonly keys: Pick<ReceiptKeys, 'jwk'>
  readonly terms: PaymentTerms
  readonly split: readonly SplitShare[]
}

/** Records settings in the ledger: a reader of old receipts and payments needs the values of their day. */
export async function recordSettings(
  store: Pick<SettingStore, 'record'>,
  { keys, terms, split }: RecordedSettings,
): Promise<void> {
  const { mint, decimals, tokenProgram, paymentWallet } = terms
  await store.record([
    { name: 'receipt-key', value: keys.jwk },
    { name: 'payment-wallet', value: paymentWallet },
    { name: `mint/${mint}`, value: { decimals, tokenProgram } },
    { name: 'split', value: split.map(({ account, perMille }) => ({ account, perMille })) },
  ])
}
