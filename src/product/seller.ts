/** The operator of the service, as described in documents and on pages. */
export interface Seller {
  readonly name: string
  /** One line that describes the sold products. */
  readonly description: string
  /** E-mail address or URL. Undefined: the operator did not configure a contact. */
  readonly contact?: string | undefined
  readonly termsUrl?: string | undefined
}

export const defaultSeller = {
  name: 'Tollbook',
  description: 'Data and tools by the request, paid with a token on Solana',
} as const satisfies Seller

/** Returns the seller in the form for documents. Missing facts are null. */
export function describeSeller({ name, description, contact, termsUrl }: Seller) {
  return { name, description, contact: contact ?? null, termsUrl: termsUrl ?? null }
}

/** Returns the contact as a link: a URL is unchanged, and an e-mail address becomes a `mailto:` link. */
export function contactUrl(contact: string): string {
  return isUrl(contact) ? contact : `mailto:${contact}`
}

export function isUrl(contact: string): boolean {
  return /^https?:\/\//.test(contact)
}
