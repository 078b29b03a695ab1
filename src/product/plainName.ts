const nameCharactersMax = 64

/** A name as a provider or an issuer wrote it, if it is printable text of a usual length without markup; empty otherwise. */
export function plainName(text: string | null | undefined): string {
  const said = text?.normalize('NFKC').trim() ?? ''
  const isPlain =
    said.length <= nameCharactersMax && /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]*$/u.test(said) && !/[<>]/.test(said)
  return isPlain && said.isWellFormed() ? said : ''
}
