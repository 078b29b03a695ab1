import { expect, test } from 'vitest'
import { markdown } from '../../src/document/markdown.ts'

const shown = (text: string) => markdown(text).markup.replaceAll(/\s*\n\s*/g, '')

test('a bar after a backslash is part of its cell', () => {
  const table = shown(
    ['| reason | meaning |', '|---|---|', String.raw`| ${'`one`'} | \`a\|b\` or nothing |`].join('\n'),
  )
  expect([...table.matchAll(/<td>/g)]).toHaveLength(2)
  expect(table).toContain('a|b')
})

test('a text is never markup, and a link never a script', () => {
  expect(shown('<b> `<i>` **<u>**')).toBe('<p>&lt;b&gt; <code>&lt;i&gt;</code> <strong>&lt;u&gt;</strong></p>')
  for (const tag of ['pre', 'code', 'kbd', 'script'])
    expect(shown(`a <${tag}> <svg/onload=alert(1)> <meta/http-equiv=refresh content=0;url=//a.example>`), tag).toBe(
      `<p>a &lt;${tag}&gt; &lt;svg/onload=alert(1)&gt; &lt;meta/http-equiv=refresh content=0;url=//a.example&gt;</p>`,
    )
  for (const address of [
    'javascript:alert(1)',
    'javascript://%0aalert(1)',
    '<java\tscript:alert(1)>',
    'data:text/html,x',
  ])
    expect(shown(`[x](${address})`), address).not.toContain('href')
  expect(shown('[x](https://a.example/b)')).toContain('href="https://a.example/b"')
  expect(shown('[x](pay/api/tabs)')).toContain('href="pay/api/tabs"')
  expect(shown('[x](#errors)')).toBe('<p><a href="#errors">x</a></p>')
})

test('lists, headings and code keep their content', () => {
  expect(shown('## The proof\n\n1. one\n2. *two*\n\n```sh\na < b\n```')).toBe(
    '<h2 id="the-proof">The proof</h2><ol><li>one</li><li><em>two</em></li></ol><pre tabindex="0"><code>a &lt; b</code></pre>',
  )
})

test('a block with a title is folded under it, and its code is text', () => {
  expect(shown('```sh Pay <now>\na < b\n```')).toBe(
    '<details><summary>Pay &lt;now&gt;</summary><pre tabindex="0"><code>a &lt; b</code></pre></details>',
  )
})
