// `completion SHELL`: a script that completes commands, options, their choices, and else file names. Made of the tree of
// commands alone, so that it knows all that they know; starts nothing at a key press.
import type { Command, Option } from 'commander'
import { allCommands } from './help.ts'

export type Shell = 'bash' | 'zsh' | 'fish'

export function completionScript(program: Command, shell: Shell): string {
  return scripts[shell](program)
}

const scripts: Readonly<Record<Shell, (program: Command) => string>> = { bash, zsh, fish }

interface Completed {
  /** The words that lead to it, with a blank between: '' for the program itself. */
  readonly path: string
  readonly description: string
  readonly commands: readonly { readonly name: string; readonly description: string }[]
  readonly options: readonly Option[]
  /** What its first argument may be; empty where that is anything. */
  readonly choices: readonly string[]
}

function completed(program: Command): Completed[] {
  return allCommands(program)
    .filter((command) => command === program || isShown(command))
    .map((command) => {
      const help = command.createHelp()
      const commands = help.visibleCommands(command).filter((one) => one.name() !== 'help')
      return {
        path: wordsOf(command),
        description: command.description(),
        commands: commands.map((one) => ({ name: one.name(), description: one.description() })),
        options: help.visibleOptions(command),
        choices: command.registeredArguments[0]?.argChoices ?? [],
      }
    })
}

function isShown(command: Command): boolean {
  const { parent } = command
  return parent === null || parent.createHelp().visibleCommands(parent).includes(command)
}

function wordsOf(command: Command): string {
  if (command.parent === null) return ''
  return `${wordsOf(command.parent)} ${command.name()}`.trim()
}

function flagsOf({ short, long }: Option): string[] {
  return [long, short].filter((flag) => flag !== undefined)
}

const takesValue = ({ required, optional }: Option) => required || optional

function bash(program: Command): string {
  const cases = completed(program).map(({ path, commands, options, choices }) => {
    const words = [...commands.map(({ name }) => name), ...choices]
    const valued = options.filter(takesValue)
    const chosen = valued.filter(({ argChoices }) => argChoices)
    return `    '${path}')
      words='${words.join(' ')}' flags='${options.flatMap(flagsOf).join(' ')}'
      case "$before" in
${chosen.map((option) => `        ${flagsOf(option).join('|')}) words='${option.argChoices?.join(' ')}' flags='' ;;`).join('\n')}
${withValue(valued.filter((option) => !chosen.includes(option)))}
      esac ;;`
  })
  return `# Completion of catalog-bot for bash: source <(catalog-bot completion bash)
_catalog_bot() {
  local current=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]} place='' words='' flags='' word
  COMPREPLY=()
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$place $word" in
${completed(program)
  .filter(({ path }) => path !== '')
  .map(({ path }) => `      '${path.includes(' ') ? '' : ' '}${path}') place='${path}' ;;`)
  .join('\n')}
    esac
  done
  case "$place" in
${cases.join('\n')}
  esac
  if [[ $current == -* ]]; then words=$flags; fi
  if [[ -n $words ]]; then
    while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -W "$words" -- "$current")
  fi
}
complete -o bashdefault -o default -F _catalog_bot catalog-bot
`
}

function withValue(options: readonly Option[]): string {
  const flags = options.flatMap(flagsOf)
  return flags.length === 0 ? '' : `        ${flags.join('|')}) words='' flags='' ;;`
}

function zsh(program: Command): string {
  const functions = completed(program).map(({ path, commands, options, choices }) => {
    const described = commands.map(
      ({ name, description }) => `    ${inZsh(`${name}:${description.replaceAll(':', '\\:')}`)}`,
    )
    const specs = options.map((option) => `    ${inZsh(zshSpec(option))}`).join(' \\\n')
    const name = functionName(path)
    if (commands.length === 0)
      return `${name}() {
  _arguments -s \\
${specs} \\
    ${choices.length > 0 ? inZsh(`1:argument:(${choices.join(' ')})`) : "'*:file:_files'"}
}`
    const inner = commands
      .map((one) => `        ${one.name}) ${functionName(`${path} ${one.name}`.trim())} ;;`)
      .join('\n')
    return `${name}() {
  local state line
  local -a commands
  commands=(
${described.join('\n')}
  )
  _arguments -C \\
${specs} \\
    '1: :->command' '*:: :->rest'
  case $state in
    command) _describe command commands ;;
    rest)
      case $line[1] in
${inner}
      esac ;;
  esac
}`
  })
  return `#compdef catalog-bot
# Completion of catalog-bot for zsh: source <(catalog-bot completion zsh), behind compinit.
${functions.join('\n')}
compdef _catalog_bot catalog-bot
`
}

function functionName(path: string): string {
  return `_catalog_bot${path === '' ? '' : `_${path.replace(/\W/g, '_')}`}`
}

function zshSpec(option: Option): string {
  const [flag = '', ...others] = flagsOf(option)
  const words = option.description.replaceAll(/[[\]]/g, String.raw`\$&`).replaceAll(':', String.raw`\:`)
  const action = option.argChoices ? `(${option.argChoices.join(' ')})` : '_files'
  const value = takesValue(option) ? `:value:${action}` : ''
  // Each spelling has a line of its own in other scripts; here the long one is enough for help, and both complete.
  return `${others.length > 0 ? `(${others.join(' ')})` : ''}*${flag}[${words}]${value}`
}

function inZsh(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}

function fish(program: Command): string {
  const lines = completed(program).flatMap(({ path, commands, options, choices }) => {
    const at = `-n ${inFish(`__catalog_bot_at ${path}`.trim())}`
    return [
      ...commands.map(
        ({ name, description }) => `complete -c catalog-bot -f ${at} -a ${name} -d ${inFish(description)}`,
      ),
      ...choices.map((choice) => `complete -c catalog-bot -f ${at} -a ${choice}`),
      ...options.map((option) => {
        const flags = [
          ...(option.long ? [`-l ${option.long.slice(2)}`] : []),
          ...(option.short ? [`-s ${option.short.slice(1)}`] : []),
        ].join(' ')
        const value = option.argChoices
          ? ` -x -a ${inFish(option.argChoices.join(' '))}`
          : takesValue(option)
            ? ' -r'
            : ''
        return `complete -c catalog-bot ${at} ${flags}${value} -d ${inFish(option.description)}`
      }),
    ]
  })
  const paths = completed(program)
    .map(({ path }) => path)
    .filter((path) => path !== '')
  return `# Completion of catalog-bot for fish: catalog-bot completion fish > ~/.config/fish/completions/catalog-bot.fish
function __catalog_bot_at
  set -l place
  for word in (commandline -opc)[2..-1]
    if contains -- (string join -- ' ' $place $word) ${paths.map(inFish).join(' ')}
      set -a place $word
    end
  end
  test "$place" = "$argv"
end
${lines.join('\n')}
`
}

function inFish(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", String.raw`\'`)}'`
}
