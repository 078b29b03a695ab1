import { expect, test } from 'vitest'
import { html, jsonScript } from '../../src/document/markup.ts'

test('a text in a page is never markup', () => {
  const hostile = `<script>"'&`
  expect(html`<p title="${hostile}">${hostile}</p>`.markup).toBe(
    '<p title="&lt;script&gt;&quot;&#39;&amp;">&lt;script&gt;&quot;&#39;&amp;</p>',
  )
  const items = ['a', '<b>'].map((text) => html`<i>${text}</i>`)
  expect(html`<p>${items}</p>`.markup).toBe('<p><i>a</i><i>&lt;b&gt;</i></p>')
})

test('JSON in a page cannot end its element, and stays the same JSON', () => {
  const value = { name: '</script><script>alert(1)' }
  const { markup } = jsonScript(value)
  expect(markup).not.toContain('<')
  expect(JSON.parse(markup)).toEqual(value)
})
