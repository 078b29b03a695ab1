import { describe, expect, test } from 'vitest'
import { newsCategories } from '../../src/products/news/articles/newsCategory.ts'
import { isoTime, systemClock } from '@tollbook/core/clock'
import { ask, askForQuote, buy } from '../support/ask.ts'
import { awaitThat } from '../support/awaitThat.ts'
import { type Answering, json, startLoopbackProvider, text } from '../support/loopbackProvider.ts'
import { openTestService } from '../support/testService.ts'

const hour = 3_600_000
const nowMs = systemClock.nowMs()
const ago = (ms: number) => isoTime(nowMs - ms)

/** A forecast of 8.4 °C for every hour around now. */
const forecast = json({
  properties: {
    meta: { units: { air_temperature: 'celsius', relative_humidity: '%' } },
    timeseries: Array.from({ length: 6 }, (_, step) => ({
      time: isoTime(Math.floor(nowMs / hour) * hour + (step - 1) * hour),
      data: {
        instant: { details: { air_temperature: 8.4, relative_humidity: 80.9 } },
        next_1_hours: { summary: { symbol_code: 'partlycloudy_day' } },
      },
    })),
  },
})
const articles = (...titles: readonly string[]) =>
  json({
    articles: titles.map((title, n) => ({
      title,
      url: `https://index.example/${title.length}-${n}`,
      seendate: ago(hour),
      domain: 'index.example',
    })),
  })

const metNorway = await startLoopbackProvider(forecast)
const openMeteo = await startLoopbackProvider(text('broken', { status: 500 }))
const noPlace = json({ generationtime_ms: 0.4 })
const village = json({
  results: [
    {
      name: 'Hallstatt',
      latitude: 47.56222,
      longitude: 13.64917,
      feature_code: 'PPL',
      country_code: 'AT',
      population: 752,
      country: 'Austria',
      admin1: 'Upper Austria',
    },
  ],
  generationtime_ms: 0.6,
})
const geocoder = await startLoopbackProvider(village)
const gdelt = await startLoopbackProvider((response, asked) =>
  (asked.url.searchParams.get('query')?.includes('semiconductor') === true ? articles('Polled story') : articles())(
    response,
    asked,
  ),
)
/** Each feed has one article of its category; no feed covers sports. */
const feedOf: Answering = (response, asked) => {
  const category = asked.url.pathname.slice(1)
  const item = `<item><title>All about ${category} &amp;amp; more</title><link>https://www.feed.example/${category}?utm_source=rss</link><pubDate>${new Date(nowMs - 2 * hour).toUTCString()}</pubDate></item>`
  const feed = `<rss version="2.0"><channel><title>Example Daily - ${category}</title>${category === 'sports' ? '' : item}</channel></rss>`
  text(feed, { headers: { etag: '"1"' } })(response, asked)
}
const feeds = await startLoopbackProvider(feedOf)

const service = await openTestService({
  env: {
    MET_NORWAY_URL: metNorway.url,
    OPEN_METEO_URL: openMeteo.url,
    OPEN_METEO_GEOCODING_URL: geocoder.url,
    GDELT_URL: gdelt.url,
    NEWS_FEEDS: newsCategories.map((category) => `${category}=${feeds.url}/${category}`).join(','),
    NEWS_POLLING: '1',
  },
})
const weather = (city: string) => ({ path: `/api/data/weather?city=${encodeURIComponent(city)}` })
const news = (query = '') => ({ path: `/api/data/news${query}` })

describe('weather', () => {
  test('of a city is sold with exactly the fields of the specification, and all other fields in meta', async () => {
    const { data, meta } = await buy(service, weather('Cologne'))
    expect(data).toEqual({
      location: { city: 'Köln', country: 'Germany' },
      current: { temperature: { celsius: 8.4, fahrenheit: 47.1 }, humidity: 81, description: 'Partly cloudy' },
    })
    expect(meta).toMatchObject({
      source: 'met-norway',
      kind: 'forecast',
      attribution: 'Data from MET Norway (CC BY 4.0)',
      cached: false,
      place: { countryCode: 'DE', latitude: 50.93333, longitude: 6.95, source: 'geonames' },
    })
    expect(Object(meta).alternatives[0]).toMatchObject({ name: 'Cologne', countryCode: 'IT' })
  })

  test('of one place is asked for once, whatever the place is called', async () => {
    await buy(service, weather('Munich'))
    const asked = metNorway.asked.length
    const { meta } = await buy(service, weather('München, Deutschland'))
    expect(meta).toMatchObject({ cached: true })
    expect(metNorway.asked).toHaveLength(asked)
  })

  test('of a village that the local list does not have is sold too, and where it is is asked for once', async () => {
    const { data, meta } = await buy(service, weather('Hallstatt, Austria'))
    expect(data).toMatchObject({ location: { city: 'Hallstatt', country: 'Austria' }, current: { humidity: 81 } })
    expect(meta).toMatchObject({
      source: 'met-norway',
      place: { region: 'Upper Austria', latitude: 47.56222, source: 'open-meteo-geocoding' },
      alternatives: [],
    })
    await buy(service, weather('hallstatt,Austria'))
    expect(geocoder.asked.map(({ url }) => url.searchParams.get('name'))).toEqual(['Hallstatt,Austria'])
  })

  test.each([
    ['Lodnon', /no city named "Lodnon"/],
    ['Paris, Germany', /in Germany/],
  ])('of a place that does not exist, %s, is NO_DATA with the proof kept, then before a payment', async (city, why) => {
    geocoder.answer(noPlace)
    const proof = await service.payer.pay(await askForQuote(service, weather(city)))
    const refusal = { status: 404, body: { code: 'NO_DATA', error: expect.stringMatching(why) } }
    expect(await ask(service, { ...weather(city), proof })).toMatchObject(refusal)
    const asked = geocoder.asked.length
    expect(await ask(service, weather(city))).toMatchObject(refusal)
    expect(geocoder.asked).toHaveLength(asked)
    expect(await ask(service, { ...weather('London'), proof })).toMatchObject({ status: 200 })
  })

  test('that no provider knows costs nothing: the same proof buys it when a provider knows it', async () => {
    const order = weather('Reykjavik')
    const proof = await service.payer.pay(await askForQuote(service, order))
    metNorway.answer(text('broken', { status: 500 }))
    expect(await ask(service, { ...order, proof })).toMatchObject({ status: 502, body: { code: 'UPSTREAM_FAILED' } })
    metNorway.answer(forecast)
    expect(await ask(service, { ...order, proof })).toMatchObject({
      status: 200,
      body: { data: { location: { city: 'Reykjavík', country: 'Iceland' } } },
    })
  })

  test('of a place that cannot be looked up costs nothing, and is not offered until it can', async () => {
    geocoder.answer(text('slow down', { status: 429, headers: { 'retry-after': '600' } }))
    const order = weather('Clachtoll')
    const proof = await service.payer.pay(await askForQuote(service, order))
    expect(await ask(service, { ...order, proof })).toMatchObject({ status: 502, body: { code: 'UPSTREAM_FAILED' } })
    expect(await ask(service, order)).toMatchObject({ status: 503, body: { code: 'ENDPOINT_UNAVAILABLE' } })
    expect(await ask(service, { ...weather('London'), proof })).toMatchObject({ status: 200 })
  })
})

describe('news', () => {
  test('is on sale as soon as one source has answered, with exactly the fields of the specification', async () => {
    await awaitThat('the feeds are read', async () => (await ask(service, news('?category=world'))).status === 402)
    const { data, meta } = await buy(service, news('?category=world'))
    expect(data).toEqual({
      articles: [
        {
          title: 'All about world & more',
          source: 'Example Daily',
          url: 'https://www.feed.example/world',
          publishedAt: new Date(Math.floor((nowMs - 2 * hour) / 1000) * 1000).toISOString(),
        },
      ],
      total: 1,
    })
    expect(meta).toMatchObject({ source: 'publisher-rss', cached: true, ageSeconds: expect.any(Number) })
  })

  test('of all sources comes the newest first, and no more than asked for', async () => {
    await awaitThat('every source has been polled', () => {
      // Its categories are polled one after another, so the one before the last has been stored.
      const polled = gdelt.asked.findIndex(
        ({ url }) => url.searchParams.get('query')?.includes('semiconductor') === true,
      )
      return Promise.resolve(polled >= 0 && polled < gdelt.asked.length - 1)
    })
    expect((await ask(service, news('?category=tech'))).body['code']).toBe('PAYMENT_REQUIRED')
    const { data, meta } = await buy(service, news('?limit=3'))
    expect(data).toMatchObject({ total: 3, articles: [{ title: 'Polled story', source: 'index.example' }, {}, {}] })
    expect(meta).toMatchObject({ source: 'gdelt+publisher-rss', sources: ['gdelt', 'publisher-rss'] })
  })

  test('is read on with the cursor of an answer, from the oldest if the order says so', async () => {
    const first = await buy(service, news('?limit=2&sort=oldest'))
    const { nextCursor } = Object(first.meta)
    const second = await buy(service, news(`?limit=2&sort=oldest&cursor=${nextCursor}`))
    const urls = [first, second].flatMap(({ data }) => Object(data).articles.map(({ url }: { url: string }) => url))
    expect(new Set(urls).size).toBe(4)
    const past = await ask(service, news('?from=2026-02-30'))
    expect([past.status, past.body['code']]).toEqual([400, 'INVALID_REQUEST'])
  })

  test('in a category without an article is refused before a payment', async () => {
    const { status, body } = await ask(service, news('?category=sports'))
    expect([status, body['code']]).toEqual([404, 'NO_DATA'])
  })

  test('about something unseen is asked for once, and found again by the same question', async () => {
    gdelt.answer(articles('A story of another name'))
    const asked = () => gdelt.asked.filter(({ url }) => url.searchParams.get('query') === 'zebra crossings').length
    const [one, two] = await Promise.all([1, 2].map(() => buy(service, news('?query=Zebra+crossings!'))))
    expect(one?.data).toMatchObject({ total: 1, articles: [{ title: 'A story of another name' }] })
    expect(two?.data).toEqual(one?.data)
    await buy(service, news('?query=zebra+crossings'))
    expect(asked()).toBe(1)
  })

  test('on a subject without articles is NO_DATA with the proof kept, and then before a payment', async () => {
    gdelt.answer(articles())
    const order = news('?query=qwzxv')
    const proof = await service.payer.pay(await askForQuote(service, order))
    expect(await ask(service, { ...order, proof })).toMatchObject({ status: 404, body: { code: 'NO_DATA' } })
    expect(await ask(service, order)).toMatchObject({ status: 404, body: { code: 'NO_DATA' } })
    expect(await ask(service, { ...news('?category=world'), proof })).toMatchObject({ status: 200 })
  })

  test('is not said to be missing while a provider could not be asked', async () => {
    gdelt.answer(text('Please limit requests to one every 5 seconds'))
    const order = news('?query=mwvyx')
    const proof = await service.payer.pay(await askForQuote(service, order))
    expect(await ask(service, { ...order, proof })).toMatchObject({ status: 502, body: { code: 'UPSTREAM_FAILED' } })
    expect((await ask(service, order)).status).toBe(402)
  })
})
