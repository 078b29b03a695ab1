import type { NameAnswer, NameQuestion } from './nameServer.ts'

/** Targets of the names of the attacker's zone. */
export interface ZonePlaces {
  /** Address of the attacker's site. */
  readonly site: string
  /** Address of a canary. */
  readonly inside: string
}

type Names = Readonly<Record<string, (question: NameQuestion) => NameAnswer>>

const chainLength = 8
const hugeCount = 2_000

/**
 * Kinds of names by their first label but one: `x.rebind.test` is of the kind `rebind`. Each name counts its questions
 * by itself, so that no attack has heard the answers of another.
 */
function namesOf({ site, inside }: ZonePlaces): Names {
  const to =
    (...addresses: string[]) =>
    (): NameAnswer => ({ addresses })
  const many = Array.from({ length: hugeCount }, (_, nth) => `93.184.${100 + (nth >> 8)}.${nth & 255}`)
  const chain = Array.from({ length: chainLength }, (_, nth) => `alias${nth}.chain.test`)
  return {
    private: to(inside),
    mixed: to(site, inside),
    v6: to('::1'),
    ula: to('fd00::1'),
    mapped: to(`::ffff:${inside}`),
    nat64: to('64:ff9b::a00:1'),
    sixToFour: to('2002:a00:1::'),
    zero: to('0.0.0.0'),
    metadata: to('169.254.169.254'),
    split: to(site, 'fd00::1'),
    chain: () => ({ aliases: [...chain, 'private.test'], addresses: [inside] }),
    localhostAlias: () => ({ aliases: ['localhost'], addresses: ['127.0.0.1'] }),
    dangling: () => ({ aliases: ['private.test'], addresses: [] }),
    rebind: ({ nth }) => ({ addresses: [nth === 1 ? site : inside] }),
    rebindV6: ({ nth }) => ({ addresses: [nth === 1 ? site : 'fd00::1'] }),
    alternate: ({ nth }) => ({ addresses: [nth % 2 === 1 ? site : inside] }),
    huge: to(...many, inside),
    silent: () => 'silent',
    malformed: () => 'malformed',
  }
}

/** Names that lead to the attacker's site whatever else they do. */
const sites = ['attack', 'frame']

export function createZone(places: ZonePlaces): (question: NameQuestion) => NameAnswer {
  const names = namesOf(places)
  return (question) => {
    const kind = question.name.split('.').at(-2) ?? ''
    if (sites.includes(kind)) return { addresses: [places.site] }
    return Object.entries(names).find(([name]) => name.toLowerCase() === kind)?.[1](question) ?? { addresses: [] }
  }
}

export const zoneKinds: readonly string[] = Object.keys(namesOf({ site: '', inside: '' }))

/** The last address in the latest answer for each kind of name: the target of a caller without a guard. */
export function lastAddresses(places: ZonePlaces): ReadonlyMap<string, string> {
  const zone = createZone(places)
  const kinds = [...sites, ...zoneKinds].map((kind): [string, string | undefined] => {
    const answer = zone({ name: `${kind.toLowerCase()}.test`, type: 'A', nth: 2 })
    return [kind.toLowerCase(), typeof answer === 'string' ? undefined : answer.addresses.at(-1)]
  })
  return new Map(kinds.flatMap(([kind, address]) => (address === undefined ? [] : [[kind, address]])))
}
