// Colours code blocks, adds buttons that copy them, and lets the keys reach what scrolls. Text stays text: nothing is parsed as markup.

const WORDS = {
  py: "and as assert async await break case class continue def del elif else except finally for from global if import in is lambda match nonlocal not or pass raise return try while with yield None True False self",
  c: "abstract as async auto await bool boolean break case catch chan char class const constexpr continue default defer delete do double else enum export extends extern final finally float fn for foreach from func function go if impl implements import in inline instanceof int interface let long loop match mod mut namespace new nil null nullptr of override package private protected pub public range return self short signed sizeof static string struct super switch template this throw throws trait true false try type typedef typename typeof undefined union unsafe unsigned use using var virtual void volatile where while yield",
  sh: "alias break case cd continue do done echo elif else esac eval exec exit export fi for function if in local read return set shift source test then trap unset until while",
  rb: "alias and begin break case class def defined do else elsif end ensure extend false for if in include module next nil not or private puts redo require rescue retry return self super then true undef unless until when while yield local function repeat elseif",
  sql: "add all alter and as asc between by case check column constraint create cross database default delete desc distinct drop else end exists foreign from full group having if in index inner insert into is join key left like limit not null offset on or order outer primary references right select set table then union unique update using values view when where with",
  data: "true false null yes no on off",
};
const FAMILY = {};
for (const [family, names] of Object.entries({
  py: "py python python3 pyi ipython pycon", sh: "sh bash zsh shell console fish make makefile dockerfile docker", rb: "rb ruby lua elixir ex perl r",
  sql: "sql sqlite postgres postgresql mysql", data: "json jsonc json5 yaml yml toml ini cfg properties env",
  c: "c h cc cpp c++ cxx hpp cs csharp java kotlin kt scala swift go golang rust rs js javascript jsx mjs ts typescript tsx php dart zig proto graphql css scss less",
})) for (const name of names.split(" ")) FAMILY[name] = family;

const HASH = new Set(["py", "sh", "rb", "data"]), LONGEST = 60000;

function pattern(family) {
  const comment = HASH.has(family) ? "(?<![\\w$])#[^\\n]*" : family === "sql" ? "--[^\\n]*|/\\*[^]*?(?:\\*/|$)" : "//[^\\n]*|/\\*[^]*?(?:\\*/|$)";
  const string = `${family === "py" ? `"""[^]*?(?:"""|$)|'''[^]*?(?:'''|$)|` : ""}"(?:[^"\\\\\\n]|\\\\[^])*"?|'(?:[^'\\\\\\n]|\\\\[^])*'?${family === "c" ? "|`(?:[^`\\\\]|\\\\[^])*`?" : ""}`;
  return new RegExp(`(?<c>${comment})|(?<s>${string})|(?<n>\\b(?:0[xX][\\da-fA-F_]+|\\d[\\d_]*(?:\\.\\d+)?(?:[eE][+-]?\\d+)?)\\b)|(?<w>@?[A-Za-z_][\\w]*)`, "g");
}

function colour(code) {
  const family = FAMILY[code.dataset.lang?.toLowerCase()], text = code.textContent;
  if (!family || text.length > LONGEST || code.childElementCount) return;
  const words = new Set(WORDS[family].split(" ")), parts = [];
  let place = 0;
  for (const found of text.matchAll(pattern(family))) {
    const { c, s, n, w } = found.groups, next = text[found.index + found[0].length];
    const word = w && (words.has(family === "sql" ? w.toLowerCase() : w) ? "k" : next === "(" ? "f" : w[0] === "@" ? "f" : "");
    const key = s && family === "data" && /^\s*:/.test(text.slice(found.index + s.length, found.index + s.length + 8));
    const kind = c ? "c" : key ? "f" : s ? "s" : n ? "n" : word;
    if (!kind) continue;
    const span = document.createElement("span");
    span.className = `tok-${kind}`;
    span.textContent = found[0];
    parts.push(text.slice(place, found.index), span);
    place = found.index + found[0].length;
  }
  if (parts.length) code.replaceChildren(...parts, text.slice(place));
}

function addCopy(block) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "Copy";
  button.setAttribute("aria-label", "Copy the code");
  button.addEventListener("click", async () => {
    try { await navigator.clipboard.writeText(block.querySelector("pre").textContent); button.textContent = "Copied"; } catch {
      getSelection().selectAllChildren(block.querySelector("pre")); // without permission, or over plain http: ready for Ctrl+C
      button.textContent = "Selected";
    }
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  });
  block.append(button);
}

function reachable(box) { // with the keys, where it scrolls
  if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
}

function dress(block) {
  if (block.matches(".wide")) { reachable(block); return; }
  reachable(block.querySelector("pre"));
  const code = block.querySelector("code");
  if (code) colour(code);
  if (!block.querySelector(".copy")) addCopy(block);
}

const seen = "IntersectionObserver" in globalThis ? new IntersectionObserver((found) => {
  for (const { isIntersecting, target } of found) if (isIntersecting) { seen.unobserve(target); dress(target); }
}, { rootMargin: "600px" }) : null;

// Colours the blocks below an element, and lets the keys reach what scrolls, when they come into view; a long conversation has thousands.
globalThis.dressCode = (root) => { for (const block of root.querySelectorAll(".code, .wide")) if (seen) seen.observe(block); else dress(block); };
