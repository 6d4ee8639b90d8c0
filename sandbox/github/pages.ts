// Two plain pages for people who look at the sandbox in a browser: a repository's pull requests, and one of them.
// Everything that people or bots wrote is shown as text, never as markup.
import { latestRuns } from './views/check-view.ts'
import { repoByName } from './world.ts'
import type { Pull, Repo, World } from './world.ts'

const address = /^\/([^/]+)\/([^/]+?)(?:\/pull\/(\d+))?\/?$/

/** The page at a path, or undefined when there is none. Private repositories have none. */
export function pageAt(world: World, path: string): string | undefined {
  const [, owner = '', name = '', number] = address.exec(path) ?? []
  const repo = repoByName(world, owner, name)
  if (repo === undefined || repo.private) return undefined
  if (number === undefined) return repositoryPage(repo)
  const pull = repo.pulls.get(Number(number))
  return pull === undefined ? undefined : pullPage(pull)
}

const escapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
export const escape = (text: string): string => text.replace(/[&<>"]/g, (it) => escapes[it] ?? '')
const stateOf = (pull: Pull): string => (pull.merged !== null ? 'merged' : pull.draft ? 'draft' : pull.state)
const link = (repo: Repo): string => `/${repo.owner.login}/${repo.name}`

export function layout(title: string, body: string): string {
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>${escape(title)}</title>
<style>body{font:16px/1.5 system-ui;max-width:60rem;margin:2rem auto;padding:0 1rem}pre{white-space:pre-wrap;background:#f6f8fa;padding:1rem}</style>
<h1>${escape(title)}</h1>${body}</html>`
}

function repositoryPage(repo: Repo): string {
  const rows = [...repo.pulls.values()].map(
    (it) =>
      `<li><a href="${escape(link(repo))}/pull/${it.number}">#${it.number} ${escape(it.title)}</a> ${stateOf(it)}</li>`,
  )
  return layout(link(repo).slice(1), `<ul>${rows.join('')}</ul>`)
}

function pullPage(pull: Pull): string {
  const { repo } = pull
  const runs = latestRuns(repo.suites.filter((it) => it.sha === pull.headSha).flatMap((it) => it.runs))
  const checks = runs.map((it) => {
    const text = [it.summary, it.text].filter((part) => part !== null).join('\n\n')
    const notes = it.annotations.map(
      (note) => `${note.path}:${note.start_line} ${note.annotation_level}: ${note.message}`,
    )
    return `<h3>${escape(it.name)}: ${escape(it.conclusion ?? it.status)}</h3><pre>${escape([it.title ?? '', text, ...notes].join('\n'))}</pre>`
  })
  const comments = pull.comments.map(
    (it) => `<h3>${escape(it.author.login)} ${escape(it.createdAt)}</h3><pre>${escape(it.body)}</pre>`,
  )
  const reviews = pull.reviews.map((it) => `<li>${escape(it.author.login)}: ${it.state.toLowerCase()}</li>`)
  const facts = `${stateOf(pull)}; ${pull.author.login} wants to change ${pull.baseRef}; head ${pull.headSha}`
  return layout(
    `#${pull.number} ${pull.title}`,
    `<p><a href="${escape(link(repo))}">${escape(link(repo).slice(1))}</a></p><p>${escape(facts)}</p>
<h2>Checks</h2>${checks.join('')}<h2>Reviews</h2><ul>${reviews.join('')}</ul><h2>Comments</h2>${comments.join('')}`,
  )
}
