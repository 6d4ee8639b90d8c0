// Two plain pages for viewing the sandbox in a browser: a repository's pull requests, and one of them. User and bot
// content is escaped and never rendered as markup.
import type { ServerResponse } from 'node:http'
import { findLatestCheckRuns } from './views/check-view.ts'
import { findRepositoryByName } from './github-data.ts'
import type { MockPull, MockRepository, MockGitHubData } from './github-data.ts'

const htmlPagePathPattern = /^\/([^/]+)\/([^/]+?)(?:\/pull\/(\d+))?\/?$/

/** The page at a path, or undefined if there is no such page. Private repositories have no pages. */
export function renderHtmlPage(state: MockGitHubData, path: string): string | undefined {
  const [, owner = '', name = '', number] = htmlPagePathPattern.exec(path) ?? []
  const repo = findRepositoryByName(state, owner, name)
  if (repo === undefined || repo.private) return undefined
  if (number === undefined) return renderRepositoryPage(repo)
  const pull = repo.pulls.get(Number(number))
  return pull === undefined ? undefined : renderPullPage(pull)
}

const htmlEscapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
}
export const escapeHtml = (text: string): string => text.replace(/[&<>"]/g, (it) => htmlEscapes[it] ?? '')
const getPullDisplayState = (pull: MockPull): string =>
  pull.merged !== null ? 'merged' : pull.draft ? 'draft' : pull.state
const getRepositoryPagePath = (repo: MockRepository): string => `/${repo.owner.login}/${repo.name}`

function renderPageLayout(title: string, body: string): string {
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>${escapeHtml(title)}</title>
<style>body{font:16px/1.5 system-ui;max-width:60rem;margin:2rem auto;padding:0 1rem}pre{white-space:pre-wrap;background:#f6f8fa;padding:1rem}</style>
<h1>${escapeHtml(title)}</h1>${body}</html>`
}

export function sendHtmlPage(response: ServerResponse, status: number, title: string, body: string): true {
  response
    .writeHead(status, { 'content-type': 'text/html; charset=utf-8' })
    .end(renderPageLayout(title, body))
  return true
}

function renderRepositoryPage(repo: MockRepository): string {
  const rows = [...repo.pulls.values()].map(
    (it) =>
      `<li><a href="${escapeHtml(getRepositoryPagePath(repo))}/pull/${it.number}">#${it.number} ${escapeHtml(it.title)}</a> ${getPullDisplayState(it)}</li>`,
  )
  return renderPageLayout(getRepositoryPagePath(repo).slice(1), `<ul>${rows.join('')}</ul>`)
}

function renderPullPage(pull: MockPull): string {
  const { repo } = pull
  const runs = findLatestCheckRuns(
    repo.suites.filter((it) => it.sha === pull.headSha).flatMap((it) => it.runs),
  )
  const checks = runs.map((it) => {
    const text = [it.summary, it.text].filter((part) => part !== null).join('\n\n')
    const notes = it.annotations.map(
      (note) => `${note.path}:${note.start_line} ${note.annotation_level}: ${note.message}`,
    )
    return `<h3>${escapeHtml(it.name)}: ${escapeHtml(it.conclusion ?? it.status)}</h3><pre>${escapeHtml([it.title ?? '', text, ...notes].join('\n'))}</pre>`
  })
  const comments = pull.comments.map(
    (it) =>
      `<h3>${escapeHtml(it.author.login)} ${escapeHtml(it.createdAt)}</h3><pre>${escapeHtml(it.body)}</pre>`,
  )
  const reviews = pull.reviews.map(
    (it) => `<li>${escapeHtml(it.author.login)}: ${it.state.toLowerCase()}</li>`,
  )
  const facts = `${getPullDisplayState(pull)}; ${pull.author.login} wants to change ${pull.baseRef}; head ${pull.headSha}`
  return renderPageLayout(
    `#${pull.number} ${pull.title}`,
    `<p><a href="${escapeHtml(getRepositoryPagePath(repo))}">${escapeHtml(getRepositoryPagePath(repo).slice(1))}</a></p><p>${escapeHtml(facts)}</p>
<h2>Checks</h2>${checks.join('')}<h2>Reviews</h2><ul>${reviews.join('')}</ul><h2>Comments</h2>${comments.join('')}`,
  )
}
