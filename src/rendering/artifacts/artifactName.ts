import { randomToken } from '@tollbook/core/id'

export type ArtifactType = (typeof types)[number]

// The ending of a name is the second part of its type.
const types = ['image/png', 'image/jpeg', 'image/webp', 'application/pdf'] as const
const pattern = /^[A-Za-z0-9_-]{22}-([0-9a-z]{6,8})\.(png|jpeg|webp|pdf)$/

/**
 * Creates a name with 128 random bits, because the name alone gives access to the file. The name contains the expiry,
 * so that no second record is needed.
 */
export function newArtifactName(contentType: ArtifactType, expiresAtMs: number): string {
  return `${randomToken()}-${Math.ceil(expiresAtMs / 1000).toString(36)}.${contentType.replace(/^.*\//, '')}`
}

/**
 * Reads the type and the expiry in a name. Undefined unless the text has the exact form of a generated name, so a
 * parsed name never contains a path.
 */
export function readArtifactName(name: string) {
  const match = pattern.exec(name)
  if (match === null) return undefined
  const [, expiry = '', ending] = match
  const contentType = types.find((type) => type.endsWith(`/${ending}`))
  return contentType && { contentType, expiresAtMs: Number.parseInt(expiry, 36) * 1000 }
}
