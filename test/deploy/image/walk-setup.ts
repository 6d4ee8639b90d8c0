// Walks from catalog-bot's setup page to an installed App. Submits the forms as a browser does.

const characterByHtmlEntity: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  '#39': "'",
}

function readHtmlAttribute(tag: string, name: string): string {
  const value = new RegExp(String.raw`\b${name}="([^"]*)"`).exec(tag)?.[1] ?? ''
  return value.replace(/&(#?\w+);/g, (entity, code: string) => characterByHtmlEntity[code] ?? entity)
}

/** Fills in the first form of a page and submits it. Resolves with the next page, after redirects. */
async function submitHtmlForm(
  page: Response,
  filled: Readonly<Record<string, string>> = {},
): Promise<Response> {
  const html = await page.text()
  const [, form = '', content = ''] = /<form([^>]*)>([^]*?)<\/form>/.exec(html) ?? []
  const fields = new URLSearchParams()
  for (const [input] of content.matchAll(/<input[^>]*>/g))
    if (readHtmlAttribute(input, 'type') !== 'checkbox')
      fields.append(readHtmlAttribute(input, 'name'), readHtmlAttribute(input, 'value'))
  for (const [name, value] of Object.entries(filled)) fields.set(name, value)
  const url = new URL(readHtmlAttribute(form, 'action'), page.url)
  const isPost = readHtmlAttribute(form, 'method') === 'post'
  if (!isPost) url.search = fields.toString()
  const next = await fetch(url, isPost ? { method: 'POST', body: fields } : {})
  if (!next.ok) throw new Error(`${url.href} returned HTTP ${next.status}: ${await next.text()}`)
  return next
}

/** Creates the App from the setup page. Resolves with the text of the last page. */
export async function createAppFromSetupPage(setupUrl: string, organization: string): Promise<string> {
  const setupPage = await fetch(setupUrl)
  const confirmPage = await submitHtmlForm(setupPage, { organization })
  const gitHubPage = await submitHtmlForm(confirmPage)
  return (await submitHtmlForm(gitHubPage)).text()
}

export async function installGitHubApp(installUrl: string, repository: string): Promise<void> {
  await submitHtmlForm(await fetch(installUrl), { repository })
}
