import { expect, test } from 'vitest'
import { pageHeaders } from '../../src/pages/pageHeaders.ts'

test('a page loads its own files only, runs nothing inline, and is shown in no frame of another site', () => {
  const policy = pageHeaders['content-security-policy'].split('; ').map((directive) => directive.split(' '))
  expect(Object.fromEntries(policy.map(([name, ...sources]) => [name, sources.join(' ')]))).toEqual({
    'default-src': "'none'",
    'script-src': "'self'",
    'style-src': "'self'",
    'img-src': "'self' data:",
    'connect-src': "'self'",
    'base-uri': "'none'",
    'form-action': "'none'",
    'frame-ancestors': "'none'",
  })
})
