<#
.SYNOPSIS
Installs bookctl: downloads the archive for Windows, compares its checksum, and copies the program to a folder.

.PARAMETER From
The folder of a release, with the archives and SHA256SUMS.

.PARAMETER To
Where bookctl.exe goes. Without it: %LOCALAPPDATA%\Programs\bookctl.

.PARAMETER AddToPath
Also adds that folder to the PATH of this user.

.EXAMPLE
powershell -ExecutionPolicy Bypass -File install.ps1 -From https://example.com/bookctl/0.1.0
#>
[CmdletBinding()]
param(
    # packaging/release writes the address of a release here.
    [string]$From = '@BASE_URL@',
    [string]$To,
    [switch]$AddToPath
)

$ErrorActionPreference = 'Stop'
# Windows PowerShell 5.1 draws its progress slower than it downloads.
$ProgressPreference = 'SilentlyContinue'

function Stop-Install([string]$Message, [string]$Hint) {
    [Console]::Error.WriteLine("error: $Message")
    if ($Hint) { [Console]::Error.WriteLine("  hint: $Hint") }
    exit 1
}

function Get-Download([string]$Url, [string]$File) {
    try {
        Invoke-WebRequest -UseBasicParsing -Uri $Url -OutFile $File
    } catch {
        Stop-Install "$Url cannot be downloaded: $($_.Exception.Message)" 'check the address and the network'
    }
}

if ($From.StartsWith('@')) {
    Stop-Install 'there is no address to download from' 'name the folder of a release: install.ps1 -From URL'
}
$From = $From.TrimEnd('/')
if (-not $To) {
    if (-not $env:LOCALAPPDATA) { Stop-Install 'LOCALAPPDATA is not set' 'on Windows, name a folder with -To; elsewhere, use install.sh' }
    $To = Join-Path $env:LOCALAPPDATA 'Programs\bookctl'
}
# PATH needs an absolute folder.
$To = $ExecutionContext.SessionState.Path.GetUnresolvedProviderPathFromPSPath($To)
$installed = Join-Path $To 'bookctl.exe'
# Of the system, also where this PowerShell is a 32-bit one.
$processor = $env:PROCESSOR_ARCHITEW6432
if (-not $processor) { $processor = $env:PROCESSOR_ARCHITECTURE }
# Windows on ARM runs programs for x86_64.
if ($processor -ne 'AMD64' -and $processor -ne 'ARM64') {
    Stop-Install "there is no bookctl for Windows on $processor" 'build it from source with cargo install --locked'
}
# Windows PowerShell 5.1 does not offer it by itself on older systems.
[Net.ServicePointManager]::SecurityProtocol = [Net.ServicePointManager]::SecurityProtocol -bor [Net.SecurityProtocolType]::Tls12

$folder = Join-Path ([IO.Path]::GetTempPath()) ([IO.Path]::GetRandomFileName())
New-Item -ItemType Directory -Path $folder | Out-Null
try {
    $sums = Join-Path $folder 'SHA256SUMS'
    Get-Download "$From/SHA256SUMS" $sums
    if (-not (Select-String -Quiet -Path $sums -Pattern '^[0-9a-f]{64}  ')) {
        Stop-Install "$From/SHA256SUMS is not a list of checksums" 'check the address; some networks answer everything until you sign in'
    }
    $line = Get-Content $sums | Where-Object { $_ -match '^[0-9a-f]{64}  bookctl-[^/ ]*-x86_64-pc-windows-(gnu|msvc)\.zip$' } | Select-Object -Last 1
    if (-not $line) { Stop-Install "$From has no bookctl for Windows" 'check the address' }
    $expected, $archive = $line -split '  ', 2

    Write-Host "downloading $From/$archive"
    $zip = Join-Path $folder $archive
    Get-Download "$From/$archive" $zip
    $actual = (Get-FileHash -Algorithm SHA256 -Path $zip).Hash.ToLowerInvariant()
    if ($actual -ne $expected) {
        Stop-Install "the checksum of $archive is $actual instead of ${expected}: nothing was installed" 'download it again; if that does not help, tell whoever publishes it'
    }

    try {
        Expand-Archive -Path $zip -DestinationPath $folder
        $program = Join-Path (Join-Path $folder ($archive -replace '\.zip$', '')) 'bookctl.exe'
        $version = & $program --version
        if ($LASTEXITCODE -ne 0) { throw "exit code $LASTEXITCODE" }
    } catch {
        Stop-Install "$archive does not run on this system, so nothing was installed: $($_.Exception.Message)" 'build it from source with cargo install --locked'
    }
    $before = ''
    try { if (Test-Path $installed) { $before = ", in place of $(& $installed --version)" } } catch { Write-Verbose "$_" }

    try {
        New-Item -ItemType Directory -Force -Path $To | Out-Null
        Copy-Item -Force -Path $program -Destination $installed
    } catch {
        Stop-Install "$installed cannot be written, so nothing was installed: $($_.Exception.Message)" 'end every bookctl that runs, or name another folder with -To'
    }
    Write-Host "installed $version as $installed$before"
} finally {
    # A virus scanner may still read it. Windows cleans up the temporary folder.
    Remove-Item -Recurse -Force -Path $folder -ErrorAction SilentlyContinue
}

$userPath = [Environment]::GetEnvironmentVariable('Path', 'User')
if (($env:Path -split ';') -notcontains $To -and ($userPath -split ';') -notcontains $To) {
    if ($AddToPath) {
        [Environment]::SetEnvironmentVariable('Path', (@($userPath, $To) -ne '' -join ';'), 'User')
        Write-Host "added $To to your PATH: open a new window to use it"
    } else {
        Write-Host "$To is not on your PATH. To add it, run this once and open a new window:"
        $quoted = $To -replace "'", "''"
        Write-Host "  [Environment]::SetEnvironmentVariable('Path', [Environment]::GetEnvironmentVariable('Path', 'User') + ';$quoted', 'User')"
    }
}
$first = (Get-Command bookctl -CommandType Application -ErrorAction SilentlyContinue | Select-Object -First 1).Source
if ($first -and $first -ne $installed) { Write-Host "Your shell finds another bookctl first: $first" }
Write-Host 'completions: bookctl completions --help'
