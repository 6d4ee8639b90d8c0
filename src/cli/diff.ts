// `diff`: what changes, in catalog words. Exit 0 also when nothing does.
import { changeAsMarkdown, changeAsText, describeChangeLines } from '../messages/describe-change.ts'
import { changeForMachines } from './check.ts'
import { examineLocally } from './local-pull.ts'
import { exitWith, print } from './output.ts'

export async function diff(options: {
  repo: string
  base: string
  head: string
  output: string
}): Promise<void> {
  const { change, merge } = await examineLocally({ ...options, author: 'nobody', offline: true })
  if (merge.kind === 'conflict') throw new Error(`the two conflict in ${merge.paths.join(', ')}`)
  const lines = describeChangeLines(change)
  if (options.output === 'json') print(JSON.stringify(changeForMachines(change)))
  else print((options.output === 'markdown' ? changeAsMarkdown(lines) : changeAsText(lines)).join('\n'))
  exitWith(0)
}
