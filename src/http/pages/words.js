/* What the book's own names mean to whoever has not read its code. A test holds that none is missing. */

/** A state of a payment: how it is called on the page, and what that means. */
const states = {
  submitted: ['sent', 'We sent it to the chain for the caller, and have not seen it there.'],
  verified: ['paid', 'The chain proved the payment, and nobody has asked for its answer yet.'],
  claimed: ['being served', 'Its request is being answered at the moment.'],
  released: [
    'not delivered',
    'What was paid for could not be delivered; the caller may ask again with the same payment.',
  ],
  fulfilled: ['delivered', 'The request was answered, and the price is earned.'],
  refund_due: [
    'refund due',
    'Nothing could be delivered for a day. The payment no longer buys; its wallet is owed what we received.',
  ],
  reversed: [
    'reversed',
    'The chain dropped the payment: its tokens never arrived. What had been delivered for it is our loss.',
  ],
  unmatched: [
    'unmatched',
    'Tokens arrived without a request, or after their payment was reversed. They are owed to whoever sent them.',
  ],
  paid_out: ['payout', 'Tokens left the payment wallet for those whom they were owed to.'],
}

/** What an event means for the book. */
const kinds = {
  PaymentSubmitted: 'We put on record that we were about to send this payment to the chain.',
  PaymentVerified:
    'The chain proved it. The price is owed to the caller until delivery; what arrived beyond it is owed to the wallet.',
  TokensBurned: 'The caller burned these tokens; they never were ours.',
  ProofClaimed: 'A request began to be served for it.',
  RequestFulfilled: 'The request was answered.',
  DistributionAllocated:
    'With the delivery, the price is owed to provider, holders and treasury, and no longer to the caller.',
  RequestFailed: 'The request could not be answered; the caller may ask again.',
  PaymentFinalized: 'The chain can no longer drop it.',
  PaymentReversed:
    'The chain dropped it. What is booked of it is taken back; what was already earned with it stays owed and is a loss.',
  RefundDue: 'Nothing was delivered for a day: what was received is owed back to the wallet.',
  TransferReceived: 'Tokens arrived that no request explains. They are owed to whoever sent them.',
  DistributionPaid: 'These debts were paid out of the payment wallet.',
}

export function stateWord(state) {
  return states[state]?.[0] ?? state
}

export function stateMeaning(state) {
  return states[state]?.[1] ?? ''
}

export function kindMeaning(kind) {
  return kinds[kind] ?? ''
}
