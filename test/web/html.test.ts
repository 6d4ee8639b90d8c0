// Values in a page are escaped as text, except for markup that this module created.
import { expect, test } from '@jest/globals'
import * as html from '../../src/web/html.ts'
import { toSingleLineText } from '../../src/report/escape.ts'
import { renderMarkdownLineAsText, renderMarkdown } from '../../src/web/pages/markdown.ts'
import { createCookieSealer } from '../../src/web/server/sign-in.ts'

const { convertHtmlToString: show, htmlTemplate } = html

test.each([
  ['<script>', '&lt;script&gt;'],
  ['a & b', 'a &amp; b'],
  ['" onload="x', '&quot; onload=&quot;x'],
  ["' x", '&#39; x'],
  ['\u202Eevil', '\ufffdevil'],
  ['two\nlines', 'two lines'],
])('%j is shown unchanged', (text, shown) => {
  expect(show(htmlTemplate`<p title="${text}">${[text]}</p>`)).toBe(`<p title="${shown}">${shown}</p>`)
})

test('text that skips escaping to save time contains nothing to escape', () => {
  const all = Array.from({ length: 0x10000 }, (_, code) => `a${String.fromCharCode(code)}b`)
  const isDifferent = (text: string) =>
    show(htmlTemplate`${text}`) !== show(html.renderPreformattedText(toSingleLineText(text)))
  expect(all.filter(isDifferent)).toEqual([])
})

test('text that looks like markup is escaped unless this module created it', () => {
  const forged = JSON.parse('{"#text":"<b>","text":"<b>"}') as never
  expect(() => show(htmlTemplate`${forged}`)).toThrow()
  expect(show(htmlTemplate`${htmlTemplate`<b>`}${undefined}${false}${3}`)).toBe('<b>3')
  expect(show(html.wrapSvgAsHtml('<svg x="1">a</svg>'))).toBe('<svg role="img" x="1">a</svg>')
})

test.each([
  [
    '- **a** in `b_c`: adds `` x`y `` to stable\\_z &lt;b&gt;',
    'a in <code>b_c</code>: adds <code>x`y</code> to stable_z &lt;b&gt;',
  ],
  ['[words](https://evil.example)', 'words'],
  ['<img src=x>', '&lt;img src=x&gt;'],
])('a line of Markdown %j is read as text', (line, shown) =>
  expect(show(renderMarkdownLineAsText(line))).toBe(shown),
)

test('the pages of rules are shown with their code, lists and links', () => {
  const page = show(
    renderMarkdown(
      '## What\n\nA `x` and [two](two-heads.md).\n- one\n  more\n- two\n\n1. <b>\n\n```yaml\na:\n  b: <c>\n```\n',
      '/rules',
    ),
  )
  expect(page).toContain('<h2>What</h2>')
  expect(page).toContain('<p>A <code>x</code> and <a href="/rules/two-heads">two</a>.</p>')
  expect(page).toMatch(/<ul><li>one more<\/li><li>two<\/li><\/ul>\s*<ol><li>&lt;b&gt;<\/li><\/ol>/)
  expect(page).toMatch(/<code>a:\n {2}b: &lt;c&gt;\n<\/code>/)
})

test('a sealed value opens only with the same secret, for the same purpose, and unchanged', () => {
  const seal = createCookieSealer('secret', 'session')
  const sealed = seal.seal({ a: 1 })
  expect(seal.open(sealed)).toEqual({ a: 1 })
  expect(createCookieSealer('secret', 'other').open(sealed)).toBeUndefined()
  expect(createCookieSealer('other', 'session').open(sealed)).toBeUndefined()
  // The unused bits of the last character are ignored, too.
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  for (const value of ['1', '12', '123']) {
    const one = seal.seal(value)
    const opened = [...letters].filter((last) => seal.open(`${one.slice(0, -1)}${last}`) !== undefined)
    expect(opened).toEqual([one.at(-1)])
  }
  expect(seal.open('')).toBeUndefined()
})
