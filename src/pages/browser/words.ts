/** Words for the states of a stream. A test requires an entry for each state. */
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
  debited: ['being served', 'A tab pays for the request, which is being answered at the moment.'],
  captured: ['delivered', 'The request was answered, and a tab paid for it.'],
  confirmed: ['burned', 'Tokens that we had received for burning were burned; the chain has confirmed it.'],
}

export function stateWord(state: string): string {
  return states[state]?.[0] ?? state
}

export function stateMeaning(state: string): string {
  return states[state]?.[1] ?? ''
}
