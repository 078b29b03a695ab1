/** The operator of the service, as documents and pages name it. */
export interface Seller {
  readonly name: string
  /** One line about what is sold. */
  readonly description: string
  /** E-mail address or URL. Undefined: not given. */
  readonly contact?: string | undefined
  readonly termsUrl?: string | undefined
}

export const defaultSeller = {
  name: 'Tollbook',
  description: 'Data and tools by the request, paid with a token on Solana',
} as const satisfies Seller

/** The seller for documents, with a member for each fact. */
export function describeSeller({ name, description, contact, termsUrl }: Seller) {
  return { name, description, contact: contact ?? null, termsUrl: termsUrl ?? null }
}

/** The contact as a link. */
export function contactUrl(contact: string): string {
  return isUrl(contact) ? contact : `mailto:${contact}`
}

export function isUrl(contact: string): boolean {
  return /^https?:\/\//.test(contact)
}
