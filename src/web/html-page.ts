// The frame, styles, and security headers of every page.
import type { ServerResponse } from 'node:http'
import { convertHtmlToString, htmlTemplate, renderPreformattedText, type Html } from './html.ts'

export interface HtmlPage {
  readonly title: string
  readonly body: Html
  /** Seconds until the browser reloads, and the address. */
  readonly refresh?: { readonly seconds: number; readonly to: string }
}

/** Has no character that HTML escapes. */
const pageStyles = `:root{color-scheme:light dark;--text:#1f2328;--back:#fff;--soft:#eff2f5;--line:#d1d9e0;--go:#1f883d;--wrong:#b3261e;--link:#0969da}
@media (prefers-color-scheme:dark){:root{--text:#e6edf3;--back:#0d1117;--soft:#21262d;--line:#3d444d;--go:#238636;--wrong:#ff8a80;--link:#4493f8}}
body{font:16px/1.5 system-ui,sans-serif;max-width:42rem;margin:3rem auto;padding:0 1rem;color:var(--text);background:var(--back)}
h1,h2{line-height:1.2}a{color:var(--link)}label{display:block;font-weight:600;margin-top:1.25rem}small{display:block;font-weight:400}
input{font:inherit;width:100%;box-sizing:border-box;padding:.4rem .6rem;border:1px solid var(--line);border-radius:6px;color:inherit;background:var(--back)}
button{font:inherit;margin-top:1.25rem;padding:.5rem 1rem;border-radius:6px;border:1px solid var(--go);background:var(--go);color:#fff;cursor:pointer}
code,pre{background:var(--soft);border-radius:4px}code{padding:.1rem .3rem;overflow-wrap:anywhere}pre{padding:.75rem;overflow-x:auto}pre code{padding:0}
.wrong{display:block;color:var(--wrong);font-weight:600}table{border-collapse:collapse}th,td{text-align:left;padding:.25rem .75rem .25rem 0;vertical-align:top}`

function renderHtmlPage({ title, body, refresh }: HtmlPage): Html {
  const again =
    refresh && htmlTemplate`<meta http-equiv="refresh" content="${refresh.seconds};url=${refresh.to}">`
  return htmlTemplate`<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">${again}
<title>${title} · catalog-bot</title><style>${renderPreformattedText(pageStyles)}</style></head>
<body><h1>${title}</h1>${body}</body></html>`
}

/** `formsTo`: the only other origin that the page's forms may submit to. */
export function sendHtmlPage(response: ServerResponse, status: number, page: HtmlPage, formsTo = ''): void {
  response
    .writeHead(status, {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'content-security-policy': `default-src 'none'; style-src 'unsafe-inline'; form-action 'self' ${formsTo}; base-uri 'none'; frame-ancestors 'none'`,
    })
    .end(convertHtmlToString(renderHtmlPage(page)))
}
