export interface Seller {
  readonly name: string
  readonly description: string
  readonly contact?: string | undefined
  readonly termsUrl?: string | undefined
}

export const defaultSeller = {
  name: 'Tollbook',
  description: 'Data and tools by the request, paid with a token on Solana',
} as const satisfies Seller

export function describeSeller({ name, description, contact, termsUrl }: Seller) {
  return { name, description, contact: contact ?? null, termsUrl: termsUrl ?? null }
}

export function contactUrl(contact: string): string {
  return isUrl(contact) ? contact : `mailto:${contact}`
}

export function isUrl(contact: string): boolean {
  return /^https?:\/\//.test(contact)
}
