// The words that scripts/lint-wording.ts rejects. STYLE: the field's terms in plain US English.

/** Words of a declared name (camelCase is split) that are a private term, and what to write. */
export const replacementByRejectedNameWord: Readonly<Record<string, string>> = {
  anew: 'again, re…',
  becoming: 'projected',
  board: 'selectBatch',
  boarding: 'batch',
  deepest: 'max…Depth',
  distrust: 'markCorrupt',
  forgetful: 'noop',
  giveway: 'yield',
  kept: 'cached',
  land: 'merge',
  landed: 'merged',
  landing: 'merge',
  landings: 'merges',
  lands: 'merges',
  largest: 'max…Bytes',
  least: 'min',
  longest: 'max…Length',
  looked: 'evaluated',
  looks: 'evaluations',
  mend: 'fix',
  mended: 'fixed',
  most: 'max',
  obey: 'execute',
  oddities: 'leniencies',
  patience: 'timeoutMs',
  place: 'context, location',
  refusal: 'rejection',
  refuse: 'reject',
  refused: 'rejected',
  remembered: 'cached',
  said: 'reported',
  say: 'format, report',
  says: 'declares, reports',
  spelt: 'spelled',
  standing: 'state',
  stranger: 'untrusted author',
  strangers: 'untrusted authors',
  tell: 'report, announce',
  told: 'announced, …View',
  train: 'batch',
  trial: 'install test',
  trials: 'install tests',
  tried: 'tested',
  twin: 'signed copy',
  vouch: 'attest',
  wish: 'request, desired',
  wished: 'requested',
  workplace: 'context',
}

/** Beginnings of function names that promise nothing. */
export const rejectedFunctionPrefixes = ['what', 'who', 'whose', 'which']

/** Phrases in comments, messages and documents, and what to write. */
export const rejectedPhrases: readonly (readonly [phrase: RegExp, instead: string])[] = [
  [/\b(?:no|some|any|every)body\b(?! else's)/i, 'name the actor, such as the author, or write "no one"'],
  [/\bwho(?:so)?ever\b/i, 'name the actor'],
  [/\banew\b/i, 'again'],
  [/\bby itself\b/i, 'automatically'],
  [/\bof (?:its|their) own\b/i, 'separate, dedicated'],
  [/\b(?:is|are|was|were|be|been) told\b/i, 'name who reports what'],
  [/\b(?:tells|tell|told) (?:of|apart)\b/i, 'reports, distinguishes'],
  [/\bmend(?:s|ed|ing)?\b/i, 'fix'],
  [/\bspelt\b|\bmisspelt\b(?!-)/i, 'spelled, misspelled'],
  [/\bletter by letter\b/i, 'case-sensitive, exactly'],
  [/\bblanks\b/i, 'whitespace'],
  [/\bif (?:this|it|that) is meant\b/i, 'if this is intentional'],
  [/\bas it should be\b/i, 'correct'],
  [/\bin spite of\b/i, 'despite'],
  [/\bout of the world\b|\bthe world's\b/i, 'the environment’s'],
  [/\bstrangers?(?:'s|')?\b/i, 'untrusted author, someone without rights'],
  [/\b(?:landings?|landed|lands|land)\b(?!\.md)/i, 'merge'],
  [/\b(?:merge|landing|of|the|a) trains?\b/i, 'batch'],
  [
    /\b(?:colour|organis|behaviour|licence|recognis|honour|favour|analys|centre|cancelled)\w*/i,
    'US spelling',
  ],
  [/\bis none\b/i, 'is not one'],
  [/\bwithout a word\b|\bfor good\b|\bmeanwhile\b/i, 'silently, permanently, since then'],
  [/\bdemands?\b/i, 'requires'],
  [/(?<!connection (?:is |was )?)\brefus(?:e|es|ed|ing|als?)\b/i, 'reject'],
  [/\bmust be meant\b|\bis meant\b(?! to| for| as)/i, 'is intentional'],
  [/\b(?:stands|stood|lies|lay) (?:in|at|on|there|for|beside|before|under)\b/i, 'is'],
  [/\bpatience\b/i, 'timeout'],
  [/\bknows? no\b|\bgives? no\b/i, 'does not …'],
  [/\bcould not be found out\b/i, 'inconclusive'],
  [/\bin the end\b|\bbe it\b|\bhowever (?:many|long|often)\b/i, 'plain words'],
  [/\bso (?:many|long) (?:of|a|lines|as)\b/i, 'plain words'],
]

/** Usual English that contains a rejected word. */
export const allowedNamePattern =
  /at(?:Most|Least)|At(?:Most|Least)|InPlace|inPlace|[lL]ooksLike|[mM]ost(?:Recent|Severe)/g

/** Values that other programs store or read, so they can't be reworded. `text` is what the guard found. */
export const persistedTextExceptions: readonly {
  readonly file: RegExp
  readonly text: RegExp
  readonly reason: string
}[] = [
  {
    file: /^src\/adapters\/store\//,
    text: /^(?:land|refused)/,
    reason: 'columns and values of database tables',
  },
  {
    file: /^src\/(?:checks\/install\/cluster-test|report\/(?:cluster-test-check|describe-cluster-tests))/,
    text: /^could not be found out$/,
    reason: 'a verdict in recorded cluster test reports',
  },
  {
    file: /^src\/(?:jobs|evaluate|merge|server\/jobs)\/(?:merged-report|evaluate-in-worker|rejected-pulls)\.ts$/,
    text: /^(?:landing|refused|refusal)$/,
    reason: 'names of recorded states and caches',
  },
  { file: /^deploy\/monitoring\//, text: /^(?:refused|landing)$/, reason: 'values of metric labels' },
]
