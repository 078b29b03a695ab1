import { type InvalidPaymentReason, type Refusal, refuseProof } from '@tollbook/core/refusal'
import { type SponsorProblem, sponsorProblems } from '../../payment/sponsoredTransaction.ts'

export interface X402Refusal extends Refusal {
  readonly x402Error: string
}

type Reason = Exclude<InvalidPaymentReason, 'blockhash_expired'>

export function refuseX402(x402Error: string, reason: Reason, more: string): X402Refusal {
  return { ...refuseProof(reason, more), x402Error }
}

export function refusePayload(problem: string): X402Refusal {
  return refuseX402('invalid_payload', 'malformed_payload', problem)
}

// Error codes of the standard facilitator, so that existing clients and dashboards recognize them.
const errorOfProblem: Readonly<Record<SponsorProblem, string>> = {
  malformed: 'payload_transaction_could_not_be_decoded',
  lookup_table: 'payload_transaction',
  fee_payer: 'fee_payer_mismatch',
  signers: 'payload_excessive_signers',
  signature: 'payload_signature_invalid',
  fee_payer_in_accounts: 'payload_transaction_fee_payer_transferring_funds',
  program: 'payload_unknown_optional_instruction',
  compute_limit: 'payload_transaction_instructions_compute_limit_instruction',
  compute_price: 'payload_transaction_instructions_compute_price_instruction',
  compute_other: 'payload_unknown_optional_instruction',
  transfer: 'payload_no_transfer_instruction',
  mint: 'payload_mint_mismatch',
  recipient: 'payload_recipient_mismatch',
  authority: 'payload_no_transfer_instruction',
  amount: 'payload_amount_mismatch',
  memo: 'payload_memo_count',
  length: 'payload_transaction_instructions_length',
}

export function refuseSponsor(problem: SponsorProblem): X402Refusal {
  return refuseX402(`invalid_exact_svm_${errorOfProblem[problem]}`, 'not_sponsored', sponsorProblems[problem])
}

// Error codes for reasons that x402 distinguishes. Every other reason has the code of a failed verification.
const errorOfReason: Partial<Readonly<Record<InvalidPaymentReason, string>>> = {
  already_used: 'duplicate_settlement',
  transaction_failed: 'invalid_exact_svm_transaction_failed',
  simulation_failed: 'invalid_exact_svm_transaction_simulation_failed',
  transfer_insufficient: 'invalid_exact_svm_payload_amount_mismatch',
  memo_missing: 'invalid_exact_svm_payload_memo_count',
  secret_mismatch: 'invalid_exact_svm_payload_memo_mismatch',
  blockhash_expired: 'invalid_exact_svm_transaction_failed',
}

export function x402ErrorOf(refusal: Refusal): string {
  if (isX402Refusal(refusal)) return refusal.x402Error
  if (refusal.code === 'INSUFFICIENT_BALANCE') return 'insufficient_funds'
  return errorOfReason[refusal.reason ?? 'not_found'] ?? 'invalid_exact_svm_verification_failed'
}

function isX402Refusal(refusal: Refusal): refusal is X402Refusal {
  return 'x402Error' in refusal
}
