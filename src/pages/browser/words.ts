/*
 * Words for the ledger's states and events, and for the totals of a closing statement. A test fails if one is missing.
 */

/** Word and meaning of each state of a stream. */
const states: Readonly<Record<string, readonly [word: string, meaning: string]>> = {
  submitted: ['sent', 'We sent it to the chain for the caller, and have not seen it there.'],
  claimed: ['being served', 'Its request is being answered at the moment.'],
  streaming: ['being sent', 'Its answer is being sent, piece by piece.'],
  released: [
    'not delivered',
    'The purchased answer could not be delivered; the caller may repeat the request with the same payment.',
  ],
  exhausted: [
    'attempts exhausted',
    'Every permitted attempt failed. The payment no longer buys and is owed back as soon as it is final.',
  ],
  fulfilled: ['delivered', 'The request was answered, and the price is earned.'],
  refund_due: [
    'refund due',
    'Nothing could be delivered for a day. The payment no longer buys; its wallet is owed what we received.',
  ],
  reversed: [
    'reversed',
    'The chain dropped the payment: its tokens never arrived. Answers delivered for it are our loss.',
  ],
  unmatched: [
    'unmatched',
    'Tokens arrived without a request, or after their payment was reversed. They are owed to their sender.',
  ],
  paid: ['payout', 'Tokens left the payment wallet to pay debts.'],
  approved: ['approved', 'A person approved what the payment is owed back.'],
  granted: ['granted', 'A person gave back the price of the delivered answer.'],
  failed: ['not burned', 'The burn did not land and never will. The tokens stay owed, and the next round burns them.'],
  confirmed: ['burned', 'Tokens that we had received for burning were burned; the chain has confirmed it.'],
}

/** Meaning of an event for the ledger. */
const kinds: Readonly<Record<string, string>> = {
  PaymentSubmitted: 'We put on record that we were about to send this payment to the chain.',
  PaymentVerified:
    'The chain proved it. The price is owed to the caller until delivery; what arrived beyond it is owed to the wallet.',
  TokensBurned: 'The caller burned these tokens; they never were ours.',
  BurnOwed: 'Nothing was burned inside the payment, so these tokens are ours to burn.',
  BurnOwedReversed: 'The chain dropped the payment in dollars, so the burn that it owed is owed no longer.',
  TokensDelivered: 'The treasury sent these tokens for the burns of payments in dollars.',
  TabOpened: 'The deposit opened a tab. All of it is owed to the caller until requests spend it.',
  TabToppedUp: 'The deposit was added to a tab.',
  TabDebited: 'The price of a request was held on the tab.',
  TabCaptured:
    'The request was answered. Its charge is owed to the burn and the accounts of the split; the rest of the hold is on the tab again.',
  TabReturned: 'The request could not be answered. Its hold is on the tab again.',
  TabKeyReplaced: 'The wallet of the tab replaced its keys.',
  TabClosed: 'The tab was closed. Its rest is owed to the wallet that paid.',
  TabRestOwed: 'A hold or a deposit was returned after the tab was closed, and is owed to the wallet that paid.',
  TabTakenBack: 'A hold was returned after the chain had dropped the deposit, and lowers the loss.',
  DepositReversed: 'The chain dropped the deposit, and with it the rest of its tab.',
  ProofClaimed: 'A request began to be served for it.',
  AnswerStarted: 'The first piece of its answer was about to be sent.',
  AnswerBroken: 'The answer ended before it was whole; the caller may ask again.',
  RequestFulfilled: 'The request was answered.',
  DistributionAllocated:
    'With the delivery, the price is owed to the accounts of the split, and no longer to the caller.',
  RequestFailed: 'The request could not be answered; the caller may ask again.',
  AttemptsExhausted: 'That was the last permitted attempt. The payment is owed back as soon as it is final.',
  PaymentFinalized: 'The chain can no longer drop it.',
  PaymentReversed:
    'The chain dropped it. Its entries are reversed; shares that were already earned stay owed and are a loss.',
  BurnReversed: 'The chain dropped the burn with the payment.',
  RefundDue: 'Nothing was delivered, and what was received is owed back to the wallet.',
  TransferReceived: 'Tokens arrived that no request explains. They are owed to their sender.',
  DistributionPaid: 'These debts were paid out of the payment wallet.',
  HolderPayoutPlanned: 'The share of the holders was divided by a snapshot of their balances. Nothing moved yet.',
  HolderPayoutEnded: 'The plan for the holders ended. The rest of its amount stays owed.',
  RefundApproved: 'A person approved that these debts of the payment are paid back. Nothing moved.',
  RefundGranted: 'A person gave back the price of a delivered answer. It is owed to the wallet, and is our expense.',
  BurnSubmitted: 'We put on record that we were about to burn these tokens.',
  BurnFailed: 'The burn did not land and never will; the tokens stay owed, and the next round burns them.',
  BurnConfirmed: 'The tokens were burned out of the payment wallet, and count as burned for their endpoints.',
}

/** Totals of a closing statement. */
const totals: Readonly<Record<string, string>> = {
  received: 'Received in the payment wallet',
  burned: 'Burned by callers',
  burnOwed: 'Received to be burned',
  burnConfirmed: 'Burned later, by us',
  allocated: 'Allocated to the shares',
  refundsArisen: 'Refunds that arose',
  prepaid: 'Deposited on tabs, less spent and returned',
  refundsGranted: 'Refunds granted by a person',
  paidOut: 'Paid out to the shares',
  refunded: 'Paid back to wallets',
  lost: 'Lost to reversals',
}

export function totalWord(total: string): string {
  return totals[total] ?? total
}

export function stateWord(state: string): string {
  return states[state]?.[0] ?? state
}

export function stateMeaning(state: string): string {
  return states[state]?.[1] ?? ''
}

export function kindMeaning(kind: string): string {
  return kinds[kind] ?? ''
}
